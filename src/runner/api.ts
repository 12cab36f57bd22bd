/**
 * What the runner answers over JSON-RPC (`vscode-jsonrpc`, on its socket): methods by name, each with one object of parameters. `root` is the
 * workspace folder whose `.rlenv/` is meant, as an absolute path. The first request of a connection is `hello`; anything else ends it.
 */
import type { OfferedChat } from '../engine/caller.js';
import type { ManualAction, ManualAnswer } from '../engine/engine.js';
import type { ExportFormat, Selection } from '../engine/exportSelection.js';
import type { TraceExport } from '../engine/exportTraces.js';
import type { PlaceText } from '../engine/traceText.js';
import type { Pairs, PairsQuery, RunComparison } from '../protocol/compareView.js';
import type { EpisodeDetail, Groups, GroupsQuery, Rows, RowsQuery, RunSnapshot } from '../protocol/runView.js';
import type { ComparedRow, DifferenceQuery, TraceComparison, TracePair } from '../protocol/traceDiff.js';
import type { Place, SearchEnd, SearchHit, StepDetail, StepSummary, TimelineBin, TraceHead, TraceOpened, TraceRef } from '../protocol/traceView.js';
import type { Again } from '../engine/estimate.js';
import type { BuildResult, CostEstimate, DoctorReport, ProviderReport, RunSummary, TemplateStatus } from '../engine/reports.js';
import type { Problem } from '../template/template.js';
import type { SandboxNotifications, SandboxRequests } from './sandboxApi.js';
import type { Identity } from './identity.js';

export type { ExportFormat, Selection } from '../engine/exportSelection.js';
export type { BuildResult, CostEstimate, DoctorReport, ProviderReport, RunSummary, TemplateStatus } from '../engine/reports.js';

export interface RunOptions {
  /** How many seeds (0, 1, ...), a range `0..511`, or a comma-separated list; the template's own if absent. */
  readonly seeds?: string;
  readonly samples?: number;
  readonly concurrency?: number;
  /** A provider's id or `auto`. */
  readonly provider?: string;
  readonly timeoutMs?: number;
  /** Name of a policy; the template's own if absent. */
  readonly policy?: string;
  /** Build even if a snapshot is there. */
  readonly rebuild?: boolean;
  /** Dollars that it may cost; the template's own if absent. */
  readonly maxCost?: number;
  /** Id of a snapshot that episodes start from in place of the template's build. */
  readonly snapshot?: string;
}

export interface ForkOptions extends Pick<RunOptions, 'policy' | 'samples' | 'concurrency' | 'timeoutMs'> {
  /** Whether what the template builds now takes the place of the snapshot that the trace names. */
  readonly current?: boolean;
}

/** Requests about traces: all of them only look. */
export interface TraceRequests {
  'trace/open': { params: { trace: TraceRef }; result: TraceOpened };
  /** Takes in what was appended; the head if anything was, or in any case. A trace that cannot be read any more is closed: it may be opened again. */
  'trace/refresh': { params: { trace: TraceRef; always: boolean }; result: TraceHead | null };
  'trace/summaries': { params: { trace: TraceRef; from: number; to: number }; result: readonly StepSummary[] };
  'trace/step': { params: { trace: TraceRef; step: number }; result: StepDetail };
  'trace/raw': { params: { trace: TraceRef; step: number; maxBytes?: number }; result: { text: string; bytes: number } };
  /** As base64. */
  'trace/blob': { params: { trace: TraceRef; ref: string }; result: string };
  /** One text of a step in full. */
  'trace/text': { params: { trace: TraceRef; step: number; place: Place }; result: PlaceText };
  /** The commands of a native trace as `solution` of its template, in YAML. */
  'trace/solution': { params: { trace: TraceRef }; result: { text: string } };
  'trace/timeline': { params: { trace: TraceRef; bins: number }; result: readonly TimelineBin[] };
  'trace/nextError': { params: { trace: TraceRef; from: number; direction: 1 | -1 }; result: number | null };
  /** Ends when the whole trace was looked through, or with the most hits; they arrive as `trace/hits` before. Cancelling ends it. */
  'trace/search': { params: { trace: TraceRef; search: string; text: string }; result: SearchEnd };
  /** Two traces aligned by their actions, windows of the rows, and the next stretch of them that differs. */
  'trace/compare': { params: TracePair; result: TraceComparison };
  'trace/comparedRows': { params: TracePair & { from: number; to: number }; result: readonly ComparedRow[] };
  'trace/nextDifference': { params: TracePair & { query: DifferenceQuery }; result: number | null };
  'trace/close': { params: { trace: TraceRef }; result: null };
}

export interface Hello extends Identity {
  /** Content of the token file, which only the user can read. */
  readonly token: string;
  readonly client: 'vscode' | 'cli';
  /** Variables that say where the caller's engines are and how its programs are started; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** How long the runner stays when nothing needs it, in ms; the last word counts. */
  readonly idleTimeoutMs?: number;
}

export interface Welcome extends Identity {
  readonly pid: number;
  readonly startedAt: number;
}

/** A run of a runner that died: it can be resumed. */
export interface RunPlace {
  readonly root: string;
  readonly id: string;
}

/** What keeps a runner from ending. */
export interface Work {
  /** Runs and builds that go on. */
  readonly runs: number;
  /** Sandboxes that stay for a person to look into. */
  readonly kept: number;
}

export interface RunnerStatus extends Welcome, Work {
  readonly connections: number;
  readonly idleTimeoutMs: number;
  /** It takes no more work and ends with the last that it has, for a newer one to take its place. */
  readonly retiring: boolean;
  readonly active: readonly { readonly root: string; readonly id: string; readonly template: string; readonly number: number; readonly finished: number; readonly total: number }[];
  /** Runs that a runner which died was carrying out, and that nobody has resumed. */
  readonly interrupted: readonly (RunPlace & { readonly template: string; readonly number: number; readonly finished: number; readonly total: number })[];
}

/** Requests: name to parameters and result. */
export interface RunnerRequests extends SandboxRequests, TraceRequests {
  'hello': { params: Hello; result: Welcome };
  /**
   * Which folders the caller shows, all of them; it hears of no others. While one is `visible`, runs of other processes in it are followed, too. The
   * answer is what a runner that died left to resume there, told once.
   */
  'look': { params: { roots: readonly { readonly root: string; readonly visible: boolean }[] }; result: { interrupted: readonly RunPlace[] } };
  'runner/status': { params: Record<string, never>; result: RunnerStatus };
  /** Takes no more work from now on, and ends with the last that it has. Answers what that is. */
  'runner/retire': { params: Record<string, never>; result: Work };
  'doctor': { params: { root: string; provider?: string }; result: DoctorReport };
  /** Variables that lead to the caller's accounts are these from now on, their keys among them; runs that go on keep theirs. */
  'account/use': { params: { environment: Readonly<Record<string, string>> }; result: null };
  /** Asks one provider: with the caller's variables, or with others that are tried before they are kept. */
  'account/check': { params: { root: string; provider: string; environment?: Readonly<Record<string, string>> }; result: ProviderReport };
  'template/status': { params: { root: string; file: string; provider?: string }; result: TemplateStatus };
  /** Ends when the build ends; its output arrives as `build/output`. Cancelling the request cancels the build. */
  'build': { params: { root: string; file: string; provider?: string; rebuild?: boolean }; result: BuildResult };
  /** Answers as soon as the run has an id. */
  'run/start': { params: { root: string; file: string; options: RunOptions }; result: { id: string } };
  /** What it is likely to cost; null where nothing is billed. */
  'run/estimate': { params: { root: string; file: string; options: RunOptions }; result: CostEstimate | null };
  /** The same of a run over the seeds of an old one. */
  'run/estimateAgain': { params: { root: string; id: string; which: Again; maxCost?: number }; result: CostEstimate | null };
  /** The same of episodes that begin at a step of a trace. */
  'run/estimateFork': { params: { root: string; trace: string; step: number; options: ForkOptions }; result: CostEstimate | null };
  /** `maxCost` takes the place of the run's own. */
  'run/resume': { params: { root: string; id: string; maxCost?: number }; result: { id: string } };
  /** A new run over the seeds of an old one: all of them, or those that failed or have no reward. */
  'run/rerun': { params: { root: string; id: string; only?: 'failed' }; result: { id: string } };
  /** A new run that takes the actions of an old one's finished episodes again, or those of one of them. */
  'run/replay': { params: { root: string; id: string; episode?: number }; result: { id: string } };
  /** A new run whose episodes begin where a recorded one was after a step, `step` as the trace view numbers it. */
  'run/fork': { params: { root: string; trace: string; step: number; options: ForkOptions }; result: { id: string } };
  /** Does something in an episode of a live run whose policy is `manual`; ends when it is done. */
  'episode/act': { params: { root: string; id: string; episode: number; action: ManualAction }; result: ManualAnswer };
  /** Ends when the run has ended and no sandbox of it is left. */
  'run/cancel': { params: { root: string; id: string }; result: null };
  'run/delete': { params: { root: string; id: string }; result: null };
  'run/list': { params: { root: string }; result: readonly RunSummary[] };
  'run/snapshot': { params: { root: string; id: string }; result: RunSnapshot };
  'run/rows': { params: { root: string; id: string; query: RowsQuery }; result: Rows };
  'run/groups': { params: { root: string; id: string; query: GroupsQuery }; result: Groups };
  /** Two runs of a folder, seed by seed: the figures, and a window of the seeds. */
  'run/compare': { params: { root: string; a: string; b: string }; result: RunComparison };
  'run/pairs': { params: { root: string; a: string; b: string; query: PairsQuery }; result: Pairs };
  'run/episode': { params: { root: string; id: string; episode: number }; result: EpisodeDetail };
  /** Writes finished episodes to a file, or to a folder. */
  'run/export': { params: { root: string; id: string; format: ExportFormat; selection: Selection; path: string }; result: TraceExport };
  /** Cancels what runs, ends every sandbox, then answers and ends. */
  'shutdown': { params: Record<string, never>; result: null };
}

/** Notifications from the runner. */
export interface RunnerNotifications extends SandboxNotifications {
  /** Something changed; coalesced to at most about ten a second for each kind and id. `id` is a run, where the kind is `run`. */
  'changed': { root: string; kind: 'run' | 'runs' | 'sandboxes' | 'snapshots'; id?: string };
  'build/output': { root: string; file: string; text: string };
  'trace/hits': { search: string; hits: readonly SearchHit[] };
  'log': { level: 'info' | 'warn' | 'error'; message: string };
  /** The last that is heard of a runner that ends on purpose. */
  'ending': { reason: EndingReason };
}

/** `idle`: nothing needed it. `retired`: a newer one takes its place. `stopped`: somebody asked for it. */
export type EndingReason = 'idle' | 'retired' | 'stopped';

/** Requests of the runner to whoever asked it for something. */
export interface CallerRequests {
  /** Values of variables that a template names as secrets; a name that is not set is left out. */
  'variables': { params: { names: readonly string[] }; result: Readonly<Record<string, string>> };
  /** Of VS Code only: a turn of a model that it offers. Cancelling the request ends it. */
  'chat': { params: Parameters<OfferedChat>[0]; result: Awaited<ReturnType<OfferedChat>> };
}

/**
 * Requests that only look, which a workspace that is not trusted may make, too. Whatever asks a provider is not among them: providers work with what
 * lies in the folder. A diagnosis starts a sandbox of its own, from the folder that it is given: see `Setup`.
 */
export const LOOKS: ReadonlySet<keyof RunnerRequests> = new Set([
  ...(['hello', 'look', 'runner/status', 'runner/retire', 'shutdown'] as const),
  ...(['account/use', 'account/check', 'doctor', 'template/status', 'run/list', 'run/snapshot', 'run/rows', 'run/groups', 'run/compare', 'run/pairs', 'run/episode', 'run/export'] as const),
  ...(['trace/open', 'trace/refresh', 'trace/summaries', 'trace/step', 'trace/raw', 'trace/blob', 'trace/text', 'trace/solution', 'trace/timeline', 'trace/nextError', 'trace/search', 'trace/compare', 'trace/comparedRows', 'trace/nextDifference', 'trace/close'] as const),
  'snapshot/lineage',
]);

/** Requests that make sandboxes which may outlive an answer, a connection, or a runner that is killed. A runner that retires refuses them. */
export const STARTS: ReadonlySet<keyof RunnerRequests> = new Set(['build', 'run/start', 'run/resume', 'run/rerun', 'run/replay', 'run/fork', 'sandbox/open', 'sandbox/openAt', 'sandbox/fork'] as const);

/** Data of an error answer: what the message alone does not say. */
export interface RunnerErrorData {
  /** Name of the error's kind, such as `ProviderUnavailable` or `TemplateError`. */
  readonly code: string;
  readonly hint?: string;
  readonly problems?: readonly Problem[];
  /** Last lines of a failed build's output. */
  readonly output?: string;
}
