/**
 * What the page that compares two traces and the extension say to each other. Ranges, not dumps. All text of a trace is hostile: it is shown as text, and
 * whatever comes back from the page is checked before it is used.
 */
import type { AlignedRow } from '../trace/align.js';
import type { StepDetail, StepSummary, TraceHead } from '../trace/model.js';
import type { Place, TraceRef } from './traceView.js';

export type { AlignedRow, StepDifference } from '../trace/align.js';
export type { Place, TraceRef } from './traceView.js';

/** Most rows in one request. */
export const MOST_ALIGNED_ROWS = 500;

export type Side = 'a' | 'b';

/** Two traces that were aligned. */
export interface TraceComparison {
  readonly heads: Readonly<Record<Side, TraceHead>>;
  /** Rows of the alignment, and how many of them differ. */
  readonly rows: number;
  readonly different: number;
  /** First row that differs, and first one with another action or a step without counterpart; null if there is none. */
  readonly first: number | null;
  readonly firstAction: number | null;
  /** Steps of each that were compared, from the first on: all of them, or as many as are compared at all. */
  readonly compared: Readonly<Record<Side, number>>;
}

export interface ComparedRow extends AlignedRow {
  readonly summaries: Readonly<Record<Side, StepSummary | null>>;
}

/** `actions`: rows with another action, or without a counterpart, and no others. */
export interface DifferenceQuery {
  readonly from: number;
  readonly direction: 1 | -1;
  readonly actions: boolean;
}

/** Requests from the webview, answered by the extension: name to parameters and result. */
export interface TraceDiffRequests {
  /** Sent first, when the page is up, and when somebody asks for it anew. */
  comparison: { params: undefined; result: TraceComparison };
  rows: { params: { from: number; to: number }; result: readonly ComparedRow[] };
  /** The row where the next stretch of differences begins; null if there is none. */
  nextDifference: { params: DifferenceQuery; result: number | null };
  step: { params: { side: Side; step: number }; result: StepDetail };
  blob: { params: { side: Side; ref: string }; result: Uint8Array };
  /** Opens a text of a step in an editor. */
  open: { params: { side: Side; step: number; place: Place }; result: null };
  /** Opens a text that both steps have, as a diff. */
  openDiff: { params: { a: number; b: number }; result: null };
  /** Opens the trace itself at a step. */
  openTrace: { params: { side: Side; step: number }; result: null };
  /** Opens an http(s) address, once a person has seen it and agreed. */
  browse: { params: { url: string }; result: null };
}

/** What the webview keeps with `setState` beside whatever else it keeps: the page's `data-traces` as it is, two `TraceRef`s. */
export interface TraceDiffState {
  readonly traces: string;
}

export interface TracePair {
  readonly a: TraceRef;
  readonly b: TraceRef;
}
