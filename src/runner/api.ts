/**
 * What the runner process answers over JSON-RPC (`vscode-jsonrpc`, on its standard input and output): methods by name, each with one object of
 * parameters. `root` is the workspace folder whose `.rlenv/` is meant, as an absolute path.
 */
import type { EpisodeDetail, Rows, RowsQuery, RunSnapshot } from '../protocol/runView.js';
import type { BuildResult, DoctorReport, RunSummary, TemplateStatus } from '../engine/reports.js';
import type { SandboxInfo } from '../sandbox/provider.js';
import type { Problem } from '../template/template.js';

export type { BuildResult, DoctorReport, ProviderReport, RunSummary, TemplateStatus } from '../engine/reports.js';

export interface RunOptions {
  /** How many seeds (0, 1, ...), a range `0..511`, or a comma-separated list; the template's own if absent. */
  readonly seeds?: string;
  readonly samples?: number;
  readonly concurrency?: number;
  /** A provider's id or `auto`. */
  readonly provider?: string;
  readonly timeoutMs?: number;
  /** Build even if a snapshot is there. */
  readonly rebuild?: boolean;
}

/** Requests: name to parameters and result. */
export interface RunnerRequests {
  'doctor': { params: { root: string; provider?: string }; result: DoctorReport };
  'template/status': { params: { root: string; file: string; provider?: string }; result: TemplateStatus };
  /** Ends when the build ends; its output arrives as `build/output`. Cancelling the request cancels the build. */
  'build': { params: { root: string; file: string; provider?: string; rebuild?: boolean }; result: BuildResult };
  /** Answers as soon as the run has an id. */
  'run/start': { params: { root: string; file: string; options: RunOptions }; result: { id: string } };
  'run/resume': { params: { root: string; id: string }; result: { id: string } };
  /** A new run over the seeds of an old one: all of them, or those that failed or have no reward. */
  'run/rerun': { params: { root: string; id: string; only?: 'failed' }; result: { id: string } };
  /** Ends when the run has ended and no sandbox of it is left. */
  'run/cancel': { params: { root: string; id: string }; result: null };
  'run/delete': { params: { root: string; id: string }; result: null };
  'run/list': { params: { root: string }; result: readonly RunSummary[] };
  'run/snapshot': { params: { root: string; id: string }; result: RunSnapshot };
  'run/rows': { params: { root: string; id: string; query: RowsQuery }; result: Rows };
  'run/episode': { params: { root: string; id: string; episode: number }; result: EpisodeDetail };
  /** Writes every finished episode to a file. */
  'run/export': { params: { root: string; id: string; format: 'jsonl' | 'csv'; file: string }; result: { episodes: number } };
  'sandbox/list': { params: { root: string }; result: readonly SandboxInfo[] };
  'sandbox/terminate': { params: { root: string; provider: string; id: string }; result: null };
  'snapshot/delete': { params: { root: string; id: string }; result: null };
  /** Cancels what runs, ends every sandbox, then answers; the process exits when the connection closes. */
  'shutdown': { params: Record<string, never>; result: null };
}

/** Notifications from the runner. */
export interface RunnerNotifications {
  /** Something changed; coalesced to at most about ten a second for each kind and id. `id` is a run, where the kind is `run`. */
  'changed': { root: string; kind: 'run' | 'runs' | 'sandboxes' | 'snapshots'; id?: string };
  'build/output': { root: string; file: string; text: string };
  'log': { level: 'info' | 'warn' | 'error'; message: string };
}

/** Data of an error answer: what the message alone does not say. */
export interface RunnerErrorData {
  /** Name of the error's kind, such as `ProviderUnavailable` or `TemplateError`. */
  readonly code: string;
  readonly hint?: string;
  readonly problems?: readonly Problem[];
  /** Last lines of a failed build's output. */
  readonly output?: string;
}
