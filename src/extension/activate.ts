/** Wires the extension together. Nothing here waits: the engine starts when something is first asked of it. */
import * as l10n from '@vscode/l10n';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Accounts } from './accounts.js';
import { logBuildOutput } from './buildOutput.js';
import { Commander } from './commander.js';
import { registerAccountCommands } from './commands/accounts.js';
import { registerByHandCommands } from './commands/byHand.js';
import { registerCompareRunsCommand } from './commands/compareRuns.js';
import { registerCompareTracesCommand } from './commands/compareTraces.js';
import { registerExportRunCommand } from './commands/exportRun.js';
import { registerRunCommands } from './commands/run.js';
import { registerRunsCommands } from './commands/runs.js';
import { registerSandboxCommands } from './commands/sandbox/index.js';
import { nameOf, sandboxTarget } from './commands/sandbox/targets.js';
import { registerSolutionCommands } from './commands/saveSolution.js';
import { registerSetupCommands } from './commands/setup.js';
import { registerSnapshotListCommands } from './commands/snapshot/index.js';
import { registerTemplateCommands } from './commands/templates.js';
import { registerTraceCommands } from './commands/traces.js';
import { registerTravelCommands } from './commands/travel.js';
import { CurrentRun } from './currentRun.js';
import { InternalCommands } from './ids.js';
import { TemplateCodeLens } from './language/codeLens.js';
import { LazyLanguage } from './language/lazy.js';
import { CompareViews } from './panels/compareViews.js';
import { Documents } from './panels/documents.js';
import { Monitors } from './panels/monitors.js';
import { Places } from './panels/places.js';
import { RunViews } from './panels/runViews.js';
import { TraceDiffs } from './panels/traceDiffs.js';
import { TraceViews } from './panels/traceViews.js';
import { Looking } from './looking.js';
import { answerChat } from './models/answer.js';
import { offeredByVsCode } from './models/vscode.js';
import { offerResume } from './offerResume.js';
import { roots } from './roots.js';
import { Runner } from './runner.js';
import { Runs } from './runs.js';
import { Channels } from './sandbox/channels.js';
import { SandboxFiles } from './sandbox/fileSystem.js';
import { Streams } from './sandbox/streams.js';
import { Terminals } from './sandbox/terminals.js';
import { Sandboxes } from './sandboxes.js';
import type { Services } from './services.js';
import { idleTimeoutMs } from './settings.js';
import { Setup } from './setup.js';
import { Snapshots } from './snapshots.js';
import { Templates } from './templates.js';
import { tellDied, tellOlder } from './tellDied.js';
import { createAccountsView } from './views/accountsView.js';
import { createRunsView } from './views/runsView.js';
import { createSandboxesView } from './views/sandboxesView.js';
import { createSnapshotsView } from './views/snapshotsView.js';
import { createTemplatesView } from './views/templatesView.js';
import type { Tree } from './views/tree.js';

/** What tests inside VS Code look at, since the API of VS Code shows no tree. Absent in use. */
export interface TestApi {
  readonly trees: { readonly templates: Tree; readonly sandboxes: Tree; readonly snapshots: Tree; readonly runs: Tree; readonly accounts: Tree };
  readonly services: Services;
}

export function activate(context: vscode.ExtensionContext): TestApi | undefined {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const own = <T extends vscode.Disposable>(thing: T): T => {
    context.subscriptions.push(thing);
    return thing;
  };
  const log = own(vscode.window.createOutputChannel('RL Sandboxes', { log: true }));
  const accounts = own(new Accounts({ secrets: context.secrets, state: context.globalState, storage: context.globalStorageUri.fsPath, runner: () => engine, log }));
  const engine: Runner = new Runner({
    accounts: () => accounts.variables(),
    execPath: process.execPath,
    script: join(context.extensionPath, 'dist', 'runner.mjs'),
    log: (level, message) => log[level](message),
    mayAct: () => vscode.workspace.isTrusted,
    idleTimeoutMs,
    onDied: (restarting) => void tellDied(restarting),
    onOlder: tellOlder,
    chat: (request, signal) => answerChat(offeredByVsCode(), request, signal),
    onInterrupted: (interrupted) => void offerResume(services, interrupted),
  });
  own(engine);
  const documents = own(new Documents(engine));
  const panels = { extensionUri: context.extensionUri, runner: engine, documents, log };
  // In a workspace that is not trusted, providers are not asked with what lies in its folders.
  const trustedRoots = () => (vscode.workspace.isTrusted ? roots().map(({ path }) => path) : []);
  const sandboxes = own(new Sandboxes({ runner: engine, roots: trustedRoots }));
  const snapshots = own(new Snapshots({ runner: engine, roots: trustedRoots }));
  const streams = own(new Streams(engine));
  const services: Services = {
    context,
    log,
    runner: engine,
    commander: own(new Commander(log)),
    accounts,
    templates: own(new Templates(engine)),
    runs: own(new Runs({ runner: engine, roots: () => roots().map(({ path }) => path), log: (level, message) => log[level](message) })),
    sandboxes,
    snapshots,
    streams,
    terminals: own(
      new Terminals(engine, streams, async () => {
        try {
          const ref = await sandboxTarget(services, undefined);
          return ref && { ref, name: nameOf(services, ref) };
        } catch (error) {
          services.commander.report(error, (why) => l10n.t('Failed to open a terminal in a sandbox: {0}', why));
          return undefined;
        }
      }),
    ),
    files: own(new SandboxFiles(engine, sandboxes, snapshots)),
    channels: own(new Channels()),
    monitors: own(new Monitors({ extensionUri: context.extensionUri, runner: engine, log })),
    setup: own(new Setup(engine, context.globalStorageUri.fsPath, log)),
    runViews: own(new RunViews(panels)),
    traceViews: own(new TraceViews({ ...panels, places: new Places(context.workspaceState) })),
    compareViews: own(new CompareViews(panels)),
    traceDiffs: own(new TraceDiffs({ ...panels, traceViews: () => services.traceViews })),
  };
  own(logBuildOutput(engine, log));
  own(new CurrentRun(services.runs));
  own(new TemplateCodeLens(services));
  own(new LazyLanguage(log));

  const templates = own(createTemplatesView(services));
  const live = createSandboxesView(services);
  own(live.tree);
  const kept = own(createSnapshotsView(services));
  const { tree: runs, loadMore } = createRunsView(services);
  own(runs);
  const trees = { templates, sandboxes: live.tree, snapshots: kept, runs, accounts: own(createAccountsView(services)) };
  own(new Looking(engine, Object.values(trees), services.runViews));
  const refresh = () => Object.values(trees).forEach((tree) => tree.refresh());
  const otherFolders = () => {
    services.runs.foldersChanged();
    sandboxes.invalidate();
    snapshots.invalidateAll();
  };
  own(vscode.workspace.onDidChangeWorkspaceFolders(otherFolders));
  own(
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      otherFolders();
      refresh();
    }),
  );
  registerRunCommands(services);
  registerRunsCommands(services);
  registerExportRunCommand(services);
  registerCompareRunsCommand(services);
  registerCompareTracesCommand(services);
  registerSandboxCommands(services, live).forEach(own);
  registerSnapshotListCommands(services);
  registerTemplateCommands(services);
  own(registerTraceCommands(services));
  registerTravelCommands(services);
  registerByHandCommands(services);
  registerSolutionCommands(services);
  registerAccountCommands(services);
  registerSetupCommands(services, documents, { refresh });
  services.commander.register(InternalCommands.loadMoreRuns, {
    target: () => true,
    failed: (why) => l10n.t('Failed to load more runs: {0}', why),
    run: () => Promise.resolve(loadMore()),
  });
  services.commander.register(InternalCommands.loadMoreSandboxes, {
    target: () => true,
    failed: (why) => l10n.t('Failed to load more sandboxes: {0}', why),
    run: () => Promise.resolve(live.loadMore()),
  });
  // Runs that go on, begun before a reload or in another window, are shown at once; where no engine runs there are none.
  engine.attach().then(
    (attached) => (attached ? Promise.all([services.runs.list(), sandboxes.list()]) : undefined),
    (error: unknown) => log.warn(`engine: ${String(error)}`),
  );
  return context.extensionMode === vscode.ExtensionMode.Test ? { trees, services } : undefined;
}
