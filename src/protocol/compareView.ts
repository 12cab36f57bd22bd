/** What the page that compares two runs and the extension say to each other. Snapshots, not deltas; ranges, not dumps. */
import type { Pairs, PairsQuery, RunComparison } from '../store/comparison.js';

export type * from '../store/comparison.js';

/** Requests from the webview, answered by the extension: name to parameters and result. */
export interface CompareViewRequests {
  /** Sent first, when the page is up, and whenever it hears that something changed. */
  comparison: { params: undefined; result: RunComparison };
  pairs: { params: PairsQuery; result: Pairs };
  /** Opens the two episodes side by side; the one that there is, if a run has none. */
  openEpisodes: { params: { a: number | null; b: number | null }; result: null };
  openRun: { params: { which: 'a' | 'b' }; result: null };
  /** The same with a and b exchanged. */
  swap: { params: undefined; result: null };
}

/** Notifications from the extension to the webview. */
export interface CompareViewNotifications {
  /** One of the runs changed: ask for what is on screen again. */
  changed: Record<string, never>;
}

/** What the webview keeps with `setState` beside whatever else it keeps: the page's `data-runs` as it is. */
export interface CompareViewState {
  readonly runs: string;
}
