/** A person acts in an episode, command by command, from an input box; the trace view follows. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { RunnerRequests, RunSummary } from '../../runner/api.js';
import { reason } from '../failure.js';
import { formatReward, oneLine } from '../format.js';
import { Commands } from '../ids.js';
import { withCancellableProgress } from '../progress.js';
import { cancelRun } from '../runProgress.js';
import type { Services } from '../services.js';
import { defaultProvider } from '../settings.js';
import type { EpisodeRef, TemplateRef } from '../views/node.js';
import { runLabel, templateName, templateTarget } from './targets.js';

/** A person thinks longer than a program. */
const TIMEOUT_MS = 8 * 3_600_000;

export function registerByHandCommands(services: Services): void {
  services.commander.register(Commands.recordByHand, {
    target: (argument) => templateTarget(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to record an episode of {0}: {1}', templateName(ref), why),
    run: (ref) => record(services, ref),
  });
}

async function record(services: Services, ref: TemplateRef): Promise<EpisodeRef | undefined> {
  const seed = await vscode.window.showInputBox({
    title: l10n.t('Record an episode of {0} by hand', templateName(ref)),
    prompt: l10n.t('Seed of the episode'),
    value: '0',
    validateInput: (text) => (/^\d{1,15}$/.test(text.trim()) ? undefined : l10n.t('A whole number, from 0')),
  });
  if (seed === undefined || !(await vscode.workspace.saveAll(false))) return undefined;
  const seeds = `${seed.trim()}..${seed.trim()}`;
  const options = { policy: 'manual', seeds, samples: 1, concurrency: 1, timeoutMs: TIMEOUT_MS, provider: defaultProvider(ref.file) };
  const outcome = await withCancellableProgress(l10n.t('Starting {0}', templateName(ref)), (signal) => services.runner.request('run/start', { ...ref, options }, { signal }));
  if (outcome.cancelled) return undefined;
  const episode = { root: ref.root, id: outcome.value.id, episode: 0 };
  await actByHand(services, episode);
  return episode;
}

/** Until the episode has ended: by a submission, by a person who gives up, or otherwise. */
export async function actByHand(services: Services, ref: EpisodeRef): Promise<void> {
  const { runs, runner, traceViews } = services;
  const label = runLabel(await runs.fetch(ref));
  traceViews.openEpisode(ref, l10n.t('{0}, episode {1}', label, ref.episode), { aside: true });
  const stop = new AbortController();
  const ended = runs.ended(ref, () => undefined, stop.signal);
  const box = new ActionBox(label, (run) => runner.request('episode/act', { ...ref, action: { run } }));
  try {
    const how = await Promise.race([box.ask(), ended.then(() => 'ended' as const)]);
    if (how === 'given up') return await cancelRun(services, ref);
    if (how === 'submit') await runner.request('episode/act', { ...ref, action: { submit: true } });
    const { value } = (await withCancellableProgress(l10n.t('Scoring {0}', label), (signal) => Promise.race([ended, aborted(signal)]))) as { value?: RunSummary };
    if (value) void tell(services, ref, value);
  } finally {
    box.close();
    stop.abort();
    ended.catch(() => undefined);
  }
}

const aborted = (signal: AbortSignal): Promise<never> => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));

async function tell({ runner }: Services, ref: EpisodeRef, { run }: RunSummary): Promise<void> {
  if (run.state !== 'done') return;
  const { record } = await runner.request('run/episode', ref);
  const save = l10n.t('Save as Solution');
  const text = record.reward === null ? l10n.t('The episode has no reward: {0}', oneLine(record.cause ?? '', 200)) : l10n.t('The episode is recorded, with the reward {0}.', formatReward(record.reward));
  if ((await vscode.window.showInformationMessage(text, save)) === save) await vscode.commands.executeCommand(Commands.saveSolution, ref);
}

type ManualAnswer = RunnerRequests['episode/act']['result'];
type How = 'submit' | 'given up';

/** Takes commands until a person submits or gives up. */
class ActionBox {
  private readonly input = vscode.window.createInputBox();
  private readonly submit = { iconPath: new vscode.ThemeIcon('check'), tooltip: l10n.t('Submit: the episode is scored') };
  private settle: (how: How) => void = () => undefined;
  private over = false;

  constructor(
    label: string,
    private readonly act: (command: string) => Promise<ManualAnswer>,
  ) {
    Object.assign(this.input, {
      title: l10n.t('{0}, by hand', label),
      placeholder: l10n.t('A shell command'),
      prompt: l10n.t('Each command starts afresh, only files stay. The check mark submits, Escape asks what to do.'),
      ignoreFocusOut: true,
      buttons: [this.submit],
    });
    this.input.onDidAccept(() => void this.accept());
    this.input.onDidTriggerButton(() => this.end('submit'));
    this.input.onDidHide(() => void this.hidden());
  }

  ask(): Promise<How> {
    this.input.show();
    return new Promise((resolve) => (this.settle = resolve));
  }

  close(): void {
    this.over = true;
    this.input.dispose();
  }

  private end(how: How): void {
    this.over = true;
    this.settle(how);
    this.input.hide();
  }

  private async accept(): Promise<void> {
    const command = this.input.value;
    if (command.trim() === '' || this.input.busy) return;
    Object.assign(this.input, { busy: true, enabled: false, value: '' });
    const said = await this.act(command).then(inOneLine, reason);
    if (!this.over) Object.assign(this.input, { busy: false, enabled: true, prompt: said });
  }

  /** Whoever closes the box may not mean to lose what was done. */
  private async hidden(): Promise<void> {
    if (this.over) return;
    const [submit, cancel] = [l10n.t('Submit'), l10n.t('Cancel Episode')];
    const chosen = await vscode.window.showInformationMessage(l10n.t('The episode goes on.'), { modal: true, detail: l10n.t('Close this to go on with it.') }, submit, cancel);
    if (this.over) return;
    if (chosen === submit) this.end('submit');
    else if (chosen === cancel) this.end('given up');
    else this.input.show();
  }
}

/** The end of what a command printed, and how it ended; all of it is in the trace. */
function inOneLine({ stdout, stderr, exitCode, error }: ManualAnswer): string {
  const last = `${stdout}\n${stderr}`.trimEnd().split('\n').at(-1) ?? '';
  const how = error ?? l10n.t('exit code {0}', exitCode ?? 0);
  return last.trim() === '' ? how : `${how}: ${oneLine(last, 200)}`;
}
