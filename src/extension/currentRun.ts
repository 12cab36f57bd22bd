/** The status-bar item of the run that goes on, and the context key that says there is one. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { runLabel } from './commands/targets.js';
import { Disposing } from './dispose.js';
import { formatSpending } from './format.js';
import { Commands, Contexts } from './ids.js';
import type { Runs } from './runs.js';
import type { RunRef } from './views/node.js';
import { describeRun, isActive } from './views/runNodes.js';

export class CurrentRun extends Disposing {
  private readonly item = this.own(vscode.window.createStatusBarItem('rlSandboxes.currentRun', vscode.StatusBarAlignment.Left, 10));
  private running = false;

  constructor(private readonly runs: Runs) {
    super();
    this.item.name = l10n.t('RL Sandboxes: Current Run');
    this.own(runs.onDidChangeList(() => this.show()));
    this.own(runs.onDidChangeRun(() => this.show()));
  }

  private show(): void {
    const active = this.runs.known().filter(({ summary }) => isActive(summary));
    this.setRunning(active.length > 0);
    const [newest, ...others] = active;
    if (!newest) return this.item.hide();
    const { root, summary } = newest;
    const label = runLabel(summary);
    const state = describeRun(summary);
    // No icon that turns: it makes the whole window be drawn sixty times a second, which the run has to pay for. The figures show that it goes on.
    const spending = formatSpending(summary.run);
    this.item.text = [`$(play-circle) ${label}`, `${summary.finished}/${summary.run.total}`, ...(spending ? [spending] : [])].join('  ');
    this.item.tooltip = [`${label}: ${state}`, ...(others.length > 0 ? [l10n.t('and {0} more', others.length)] : []), l10n.t('Click to open the run.')].join('\n');
    this.item.accessibilityInformation = { label: l10n.t('Run {0}, {1}', label, state), role: 'button' };
    this.item.command = { command: Commands.openRun, title: l10n.t('Open Run'), arguments: [{ root, id: summary.run.id } satisfies RunRef] };
    this.item.show();
  }

  private setRunning(running: boolean): void {
    if (running === this.running) return;
    this.running = running;
    void vscode.commands.executeCommand('setContext', Contexts.running, running);
  }
}
