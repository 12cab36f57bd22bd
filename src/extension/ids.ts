/** Every name that package.json and the code share. `test/unit/extension/manifest.test.ts` holds the two against each other. */

/** Commands that package.json contributes. */
export const Commands = {
  run: 'rlSandboxes.run',
  runWith: 'rlSandboxes.runWith',
  build: 'rlSandboxes.build',
  rebuild: 'rlSandboxes.rebuild',
  openTemplate: 'rlSandboxes.openTemplate',
  newEnvironment: 'rlSandboxes.newEnvironment',
  openExamples: 'rlSandboxes.openExamples',
  openRun: 'rlSandboxes.openRun',
  cancelRun: 'rlSandboxes.cancelRun',
  resumeRun: 'rlSandboxes.resumeRun',
  rerun: 'rlSandboxes.rerun',
  rerunFailed: 'rlSandboxes.rerunFailed',
  rerunWith: 'rlSandboxes.rerunWith',
  compareRuns: 'rlSandboxes.compareRuns',
  exportRun: 'rlSandboxes.exportRun',
  deleteRun: 'rlSandboxes.deleteRun',
  revealRun: 'rlSandboxes.revealRun',
  copyCliCommand: 'rlSandboxes.copyCliCommand',
  openTrace: 'rlSandboxes.openTrace',
  compareTraces: 'rlSandboxes.compareTraces',
  traceStepOver: 'rlSandboxes.trace.stepOver',
  traceStepBack: 'rlSandboxes.trace.stepBack',
  traceStepInto: 'rlSandboxes.trace.stepInto',
  traceStepOut: 'rlSandboxes.trace.stepOut',
  traceSearch: 'rlSandboxes.trace.search',
  openSandboxAtStep: 'rlSandboxes.trace.openSandbox',
  forkFromStep: 'rlSandboxes.trace.fork',
  recordByHand: 'rlSandboxes.recordByHand',
  saveSolution: 'rlSandboxes.saveSolution',
  openSandbox: 'rlSandboxes.openSandbox',
  openSandboxTerminal: 'rlSandboxes.openSandboxTerminal',
  closeSandboxTerminal: 'rlSandboxes.closeSandboxTerminal',
  openSandboxFiles: 'rlSandboxes.openSandboxFiles',
  addSandboxFolder: 'rlSandboxes.addSandboxFolder',
  newSandboxFile: 'rlSandboxes.newSandboxFile',
  renameSandboxFile: 'rlSandboxes.renameSandboxFile',
  deleteSandboxFile: 'rlSandboxes.deleteSandboxFile',
  downloadFromSandbox: 'rlSandboxes.downloadFromSandbox',
  uploadToSandbox: 'rlSandboxes.uploadToSandbox',
  runInSandbox: 'rlSandboxes.runInSandbox',
  runSelectionInSandbox: 'rlSandboxes.runSelectionInSandbox',
  compareSandbox: 'rlSandboxes.compareSandbox',
  snapshotSandbox: 'rlSandboxes.snapshotSandbox',
  forkSandbox: 'rlSandboxes.forkSandbox',
  keepSandbox: 'rlSandboxes.keepSandbox',
  suspendSandbox: 'rlSandboxes.suspendSandbox',
  resumeSandbox: 'rlSandboxes.resumeSandbox',
  showSandboxLogs: 'rlSandboxes.showSandboxLogs',
  showSandboxMonitor: 'rlSandboxes.showSandboxMonitor',
  openPort: 'rlSandboxes.openPort',
  forwardPort: 'rlSandboxes.forwardPort',
  copyPortAddress: 'rlSandboxes.copyPortAddress',
  stopForwarding: 'rlSandboxes.stopForwarding',
  terminateSandbox: 'rlSandboxes.terminateSandbox',
  terminateAllSandboxes: 'rlSandboxes.terminateAllSandboxes',
  terminateOrphans: 'rlSandboxes.terminateOrphans',
  runSnapshot: 'rlSandboxes.runSnapshot',
  compareSnapshot: 'rlSandboxes.compareSnapshot',
  renameSnapshot: 'rlSandboxes.renameSnapshot',
  noteSnapshot: 'rlSandboxes.noteSnapshot',
  pinSnapshot: 'rlSandboxes.pinSnapshot',
  unpinSnapshot: 'rlSandboxes.unpinSnapshot',
  exportSnapshot: 'rlSandboxes.exportSnapshot',
  importSnapshot: 'rlSandboxes.importSnapshot',
  deleteSnapshot: 'rlSandboxes.deleteSnapshot',
  pruneSnapshots: 'rlSandboxes.pruneSnapshots',
  showLineage: 'rlSandboxes.showLineage',
  signIn: 'rlSandboxes.signIn',
  signOut: 'rlSandboxes.signOut',
  switchProfile: 'rlSandboxes.switchProfile',
  checkAccount: 'rlSandboxes.checkAccount',
  refresh: 'rlSandboxes.refresh',
  doctor: 'rlSandboxes.doctor',
  copyDiagnostics: 'rlSandboxes.copyDiagnostics',
  restartEngine: 'rlSandboxes.restartEngine',
  showLog: 'rlSandboxes.showLog',
} as const;
export type CommandId = (typeof Commands)[keyof typeof Commands];

/** Commands that only our own items call, with an argument that only they have. */
export const InternalCommands = {
  openProblem: '_rlSandboxes.openProblem',
  openEpisode: '_rlSandboxes.openEpisode',
  openFailures: '_rlSandboxes.openFailures',
  fixProvider: '_rlSandboxes.fixProvider',
  loadMoreRuns: '_rlSandboxes.loadMoreRuns',
  loadMoreSandboxes: '_rlSandboxes.loadMoreSandboxes',
  showTerminal: '_rlSandboxes.showTerminal',
  openSandboxFile: '_rlSandboxes.openSandboxFile',
} as const;
export type InternalCommandId = (typeof InternalCommands)[keyof typeof InternalCommands];

export const Container = 'rlSandboxes';

export const Views = {
  templates: 'rlSandboxes.templates',
  sandboxes: 'rlSandboxes.sandboxes',
  snapshots: 'rlSandboxes.snapshots',
  runs: 'rlSandboxes.runs',
  accounts: 'rlSandboxes.accounts',
} as const;
export type ViewId = (typeof Views)[keyof typeof Views];

export const Settings = {
  provider: 'rlSandboxes.provider',
  concurrency: 'rlSandboxes.concurrency',
  askAbove: 'rlSandboxes.cost.askAbove',
  idleTimeout: 'rlSandboxes.runner.idleTimeout',
} as const;
export type SettingId = (typeof Settings)[keyof typeof Settings];

/** Keys that we set for when-clauses. */
export const Contexts = {
  /** Some run is building or running. */
  running: 'rlSandboxes.running',
  /** Some sandbox is live that this engine holds. */
  live: 'rlSandboxes.live',
} as const;
export type ContextId = (typeof Contexts)[keyof typeof Contexts];

/** `contextValue` of tree items, which `viewItem` in when-clauses is compared with. */
export const Items = {
  template: 'template',
  invalidTemplate: 'template.invalid',
  snapshot: 'snapshot',
  pinnedSnapshot: 'snapshot.pinned',
  /** Made from another one. */
  childSnapshot: 'snapshot.child',
  pinnedChildSnapshot: 'snapshot.child.pinned',
  /** One that this engine holds. */
  sandbox: 'sandbox',
  suspendableSandbox: 'sandbox.suspendable',
  suspendedSandbox: 'sandbox.suspended',
  /** Of another process: it can only be terminated. */
  foreignSandbox: 'sandbox.foreign',
  /** The root folder of a sandbox. */
  files: 'files',
  folder: 'folder',
  file: 'file',
  terminal: 'terminal',
  service: 'service',
  port: 'port',
  forwardedPort: 'port.forwarded',
  activeRun: 'run.active',
  /** Ended with every episode finished, all of them scored. */
  doneRun: 'run.done',
  /** Every episode finished, some failed or without a reward. */
  doneRunWithFailures: 'run.done.failures',
  /** Cancelled, failed or interrupted: it can be resumed. */
  incompleteRun: 'run.incomplete',
  incompleteRunWithFailures: 'run.incomplete.failures',
  episode: 'episode',
  /** At a service, with a profile that counts. */
  account: 'account',
  accountWithoutProfile: 'account.none',
} as const;
export type ItemId = (typeof Items)[keyof typeof Items];

/** `viewType` of the run view's panel. */
export const RunViewType = 'rlSandboxes.runView';

/** `viewType` of the panel that compares two runs. */
export const CompareViewType = 'rlSandboxes.compareView';

/** `viewType` of the panel with a sandbox's use of the machine. */
export const MonitorViewType = 'rlSandboxes.monitor';

/** `viewType` of the panel of an episode's trace. */
export const TraceViewType = 'rlSandboxes.traceView';
/** `viewType` of the panel that compares two traces. */
export const TraceDiffViewType = 'rlSandboxes.traceDiff';
/** Editor of files that are traces by their name. */
export const TraceEditorType = 'rlSandboxes.trace';
/** The same for files whose name says less: only if asked for. */
export const TraceOptionEditorType = 'rlSandboxes.traceOption';

/** Scheme of the files of live sandboxes, and of looks at them that cannot be changed. */
export const SandboxScheme = 'rl-sandbox';
export const SandboxViewScheme = 'rl-sandbox-view';

/** Terminal profile. */
export const TerminalProfile = 'rlSandboxes.terminal';

/** Scheme of read-only documents: outputs of episodes, the report of `doctor`. */
export const DocumentScheme = 'rl-sandboxes';

/** Which files are templates: glob, document selector and test at once. */
export const TEMPLATE_GLOB = '**/*.rlenv.yaml';
export const TEMPLATE_EXCLUDE = '{**/node_modules/**,**/.rlenv/**}';
export const isTemplateName = (path: string): boolean => path.endsWith('.rlenv.yaml');
