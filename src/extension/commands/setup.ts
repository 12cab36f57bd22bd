/** What is wrong and what helps: the doctor, the log, a new start of the engine. */
import * as l10n from '@vscode/l10n';
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { DoctorReport, ProviderReport } from '../../runner/api.js';
import { nothing } from '../commander.js';
import { diagnostics } from '../diagnostics.js';
import { Commands, InternalCommands } from '../ids.js';
import type { Documents } from '../panels/documents.js';
import { withCancellableProgress } from '../progress.js';
import { tellQuietly } from '../quiet.js';
import type { Services } from '../services.js';
import { fixFor, type Machine } from '../views/fixes.js';

const ANSWER_MS = 5000;

export function registerSetupCommands(services: Services, documents: Documents, views: { refresh(): void }): void {
  const { commander, log, runner, setup, templates, runs, sandboxes, snapshots } = services;

  commander.register(Commands.doctor, {
    target: nothing,
    failed: (why) => l10n.t('Failed to check the setup: {0}', why),
    run: async () => {
      const report = await check(services);
      if (report) await documents.openReport('setup.txt', await describe(services, report));
    },
  });
  commander.register(Commands.copyDiagnostics, {
    target: nothing,
    failed: (why) => l10n.t('Failed to copy the diagnostics: {0}', why),
    run: async () => {
      const report = await check(services);
      if (!report) return;
      await vscode.env.clipboard.writeText(await describe(services, report));
      tellQuietly(l10n.t('Diagnostics copied'));
    },
  });
  commander.register(InternalCommands.fixProvider, {
    target: (argument) => (isProvider(argument) ? argument : undefined),
    failed: (why, provider) => l10n.t('Failed to help with {0}: {1}', provider?.title ?? l10n.t('the provider'), why),
    run: (provider) => help(provider),
  });
  commander.register(Commands.restartEngine, {
    target: nothing,
    failed: (why) => l10n.t('Failed to restart the engine: {0}', why),
    run: async () => {
      if (!(await mayRestart(services))) return;
      await runner.restart();
      views.refresh();
    },
  });
  commander.register(Commands.refresh, {
    target: nothing,
    failed: (why) => l10n.t('Failed to refresh: {0}', why),
    run: () => {
      setup.forget();
      runs.forget();
      templates.forget();
      sandboxes.invalidate();
      snapshots.invalidateAll();
      views.refresh();
      return Promise.resolve();
    },
  });
  commander.register(Commands.showLog, {
    target: nothing,
    failed: (why) => l10n.t('Failed to show the log: {0}', why),
    run: () => Promise.resolve(log.show(true)),
  });
}

/** Other windows may have runs in it. One that does not answer has nothing to lose. */
async function mayRestart({ runner }: Services): Promise<boolean> {
  const work = await runner.request('runner/status', {}, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => ({ runs: 0, kept: 0 }));
  if (work.runs + work.kept === 0) return true;
  const restart = l10n.t('Restart');
  const detail = l10n.t('{0} runs are cancelled, in this window and in others; they can be resumed. {1} kept sandboxes end.', work.runs, work.kept);
  return (await vscode.window.showWarningMessage(l10n.t('Restart the engine?'), { modal: true, detail }, restart)) === restart;
}

async function check({ setup }: Services): Promise<DoctorReport | undefined> {
  const outcome = await withCancellableProgress(l10n.t('Checking the setup'), (signal) => setup.check(signal));
  return outcome.cancelled ? undefined : outcome.value;
}

async function describe({ context, runner }: Services, report: DoctorReport): Promise<string> {
  const { version } = context.extension.packageJSON as { version: string };
  return diagnostics(report, {
    extension: version,
    vscode: vscode.version,
    app: `${vscode.env.appName} (${vscode.env.appHost}${vscode.env.remoteName ? `, ${vscode.env.remoteName}` : ''})`,
    trusted: vscode.workspace.isTrusted,
    folders: vscode.workspace.workspaceFolders?.length ?? 0,
    engine: await runner.pid(),
  });
}

function isProvider(value: unknown): value is ProviderReport {
  const provider = value as Partial<ProviderReport> | undefined;
  return typeof provider?.id === 'string' && typeof provider.title === 'string';
}

/** A command is typed into a terminal and left there: whether it runs is up to whoever reads it. */
async function help(provider: ProviderReport): Promise<void> {
  const fix = fixFor(provider, await thisMachine());
  if (fix.kind === 'doctor') await vscode.commands.executeCommand(Commands.doctor);
  else if (fix.kind === 'page') await vscode.env.openExternal(vscode.Uri.parse(fix.url));
  else {
    const terminal = vscode.window.createTerminal({ name: l10n.t('Fix {0}', provider.title) });
    terminal.show();
    terminal.sendText(fix.command, false);
  }
}

async function thisMachine(): Promise<Machine> {
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return { platform: process.platform, osRelease, root: process.getuid?.() === 0 };
}
