/**
 * What the trace view and the extension say to each other, and how the runner names an open trace. Snapshots, not deltas; ranges, not dumps.
 * All text of a trace is hostile: it is shown as text, and whatever comes back from the page is checked before it is used.
 */
import type { SearchHit, StepDetail, StepSummary, TimelineBin, TraceHead } from '../trace/model.js';

export type * from '../trace/model.js';

/** A trace: its file as an absolute path, and which of the file's traces where it holds several. */
export interface TraceRef {
  readonly file: string;
  /** From 0. */
  readonly member?: number;
}

/** Most steps in one request. */
export const MOST_STEPS = 1000;
/** Most hits that one search finds; it ends there and says so. */
export const MOST_HITS = 5000;
/** Most bytes of a step's raw text that come along. */
export const MOST_RAW_BYTES = 512 * 1024;
/** Most places on the timeline: about a pixel each on the widest page. */
export const MOST_BINS = 4000;

/** Where a text lies within a step: keys and positions of its `StepDetail`, such as `['calls', 0, 'result', 1]`. */
export type Place = readonly (string | number)[];

export interface SearchEnd {
  readonly hits: number;
  /** Whether the whole trace was looked through. */
  readonly complete: boolean;
}

export interface TraceOpened {
  readonly head: TraceHead;
  /** Step to open on. */
  readonly start: number;
}

/** How a trace was asked to be looked at. */
export interface TraceViewTarget {
  readonly step?: number;
  /** Whether whoever looks is busy elsewhere, and keeps the keyboard there. */
  readonly aside?: boolean;
}

/** Requests from the webview, answered by the extension: name to parameters and result. */
export interface TraceViewRequests {
  /** Sent first, when the page is up. */
  ready: { params: { member?: number }; result: TraceOpened & { readonly show?: TraceViewTarget; readonly kept?: string } };
  /** Where the reader is, for `kept` of a later `ready`: VS Code may save what the page keeps itself only seconds later. */
  keep: { params: { state: string }; result: null };
  /** Takes in what was appended; the head if anything was, or in any case. */
  refresh: { params: { always: boolean }; result: TraceHead | null };
  summaries: { params: { from: number; to: number }; result: readonly StepSummary[] };
  step: { params: { step: number }; result: StepDetail };
  /** The step as it stands in the file; `bytes` is how long it is in all. */
  raw: { params: { step: number }; result: { readonly text: string; readonly bytes: number } };
  blob: { params: { ref: string }; result: Uint8Array };
  timeline: { params: { bins: number }; result: readonly TimelineBin[] };
  nextError: { params: { from: number; direction: 1 | -1 }; result: number | null };
  /** Hits come as `hits`, with the same `search`, before the answer. A later search ends an earlier one. */
  search: { params: { search: number; text: string }; result: SearchEnd };
  endSearch: { params: undefined; result: null };
  /** Opens a text of a step in an editor: a piece of it, or the step as it stands in the file. */
  open: { params: { step: number; place: Place } | { step: number; raw: true }; result: null };
  /** Puts a text on the clipboard. */
  copy: { params: { text: string; what: string }; result: null };
  /** Puts a link to a step on the clipboard, with a title that a person can read. */
  copyLink: { params: { step: number; title: string }; result: null };
  /** Opens a sandbox as it was after a step, or asks for a run that goes on from there. */
  travel: { params: { step: number; to: 'sandbox' | 'fork' }; result: null };
  /** Opens an http(s) address, once a person has seen it and agreed. */
  browse: { params: { url: string }; result: null };
}

export type TraceViewCommand = 'stepOver' | 'stepBack' | 'stepInto' | 'stepOut' | 'search' | 'sandbox' | 'fork';

/** Notifications from the extension to the webview. */
export interface TraceViewNotifications {
  hits: { search: number; hits: readonly SearchHit[] };
  show: TraceViewTarget;
  /** A key that VS Code has for itself, and gives to the page where it is in front. */
  command: { command: TraceViewCommand };
}

/** What the webview keeps with `setState` beside whatever else it keeps: the page's `data-trace` as it is. */
export interface TraceViewState {
  readonly trace: string;
}
