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
  deleteSnapshot: 'rlSandboxes.deleteSnapshot',
  openRun: 'rlSandboxes.openRun',
  cancelRun: 'rlSandboxes.cancelRun',
  resumeRun: 'rlSandboxes.resumeRun',
  rerun: 'rlSandboxes.rerun',
  rerunFailed: 'rlSandboxes.rerunFailed',
  rerunWith: 'rlSandboxes.rerunWith',
  exportRun: 'rlSandboxes.exportRun',
  deleteRun: 'rlSandboxes.deleteRun',
  revealRun: 'rlSandboxes.revealRun',
  copyCliCommand: 'rlSandboxes.copyCliCommand',
  openTrace: 'rlSandboxes.openTrace',
  traceStepOver: 'rlSandboxes.trace.stepOver',
  traceStepBack: 'rlSandboxes.trace.stepBack',
  traceStepInto: 'rlSandboxes.trace.stepInto',
  traceStepOut: 'rlSandboxes.trace.stepOut',
  traceSearch: 'rlSandboxes.trace.search',
  terminateSandbox: 'rlSandboxes.terminateSandbox',
  terminateAllSandboxes: 'rlSandboxes.terminateAllSandboxes',
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
} as const;
export type InternalCommandId = (typeof InternalCommands)[keyof typeof InternalCommands];

export const Container = 'rlSandboxes';

export const Views = {
  templates: 'rlSandboxes.templates',
  sandboxes: 'rlSandboxes.sandboxes',
  runs: 'rlSandboxes.runs',
} as const;
export type ViewId = (typeof Views)[keyof typeof Views];

export const Settings = {
  provider: 'rlSandboxes.provider',
  concurrency: 'rlSandboxes.concurrency',
  idleTimeout: 'rlSandboxes.runner.idleTimeout',
} as const;
export type SettingId = (typeof Settings)[keyof typeof Settings];

/** Keys that we set for when-clauses. */
export const Contexts = {
  /** Some run is building or running. */
  running: 'rlSandboxes.running',
} as const;
export type ContextId = (typeof Contexts)[keyof typeof Contexts];

/** `contextValue` of tree items, which `viewItem` in when-clauses is compared with. */
export const Items = {
  template: 'template',
  invalidTemplate: 'template.invalid',
  snapshot: 'snapshot',
  sandbox: 'sandbox',
  activeRun: 'run.active',
  /** Ended with every episode finished, all of them scored. */
  doneRun: 'run.done',
  /** Every episode finished, some failed or without a reward. */
  doneRunWithFailures: 'run.done.failures',
  /** Cancelled, failed or interrupted: it can be resumed. */
  incompleteRun: 'run.incomplete',
  incompleteRunWithFailures: 'run.incomplete.failures',
  episode: 'episode',
} as const;
export type ItemId = (typeof Items)[keyof typeof Items];

/** `viewType` of the run view's panel. */
export const RunViewType = 'rlSandboxes.runView';

/** `viewType` of the panel of an episode's trace. */
export const TraceViewType = 'rlSandboxes.traceView';
/** Editor of files that are traces by their name. */
export const TraceEditorType = 'rlSandboxes.trace';
/** The same for files whose name says less: only if asked for. */
export const TraceOptionEditorType = 'rlSandboxes.traceOption';

/** Scheme of read-only documents: outputs of episodes, the report of `doctor`. */
export const DocumentScheme = 'rl-sandboxes';

/** Which files are templates: glob, document selector and test at once. */
export const TEMPLATE_GLOB = '**/*.rlenv.yaml';
export const TEMPLATE_EXCLUDE = '{**/node_modules/**,**/.rlenv/**}';
export const isTemplateName = (path: string): boolean => path.endsWith('.rlenv.yaml');
