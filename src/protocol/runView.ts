/**
 * What the run view and the extension say to each other, and what the runner computes for both. Snapshots, not deltas;
 * ranges, not dumps. Every text that came out of a sandbox (`output`, `cause`, `detail`, artifact names) is hostile.
 */
import type { EpisodeRecord, EpisodeStatus, RunRecord } from '../store/records.js';
import type { ComponentFigures, FailureGroup, Groups, GroupsQuery, Histogram, RewardSeries, RewardStats, Rows, RowsQuery, SeedFigures } from '../store/statistics.js';

export type { EpisodeRecord, EpisodeStatus, RewardComponent, RewardProblem, RunRecord, RunState } from '../store/records.js';
export type * from '../store/statistics.js';

/** What a run says about its template. */
export type Finding =
  | { readonly what: 'noop-unscored' }
  | { readonly what: 'noop-scores'; readonly mean: number }
  | { readonly what: 'replay-differs' | 'fork-differs'; readonly count: number; readonly of: number };

/** Creations that wait at a service whose name is `title`, of all runs there; the figures are a provider's `Waits`. */
export interface RunWaits {
  readonly title: string;
  readonly creations: number;
  readonly places: number;
  readonly perSecond: number;
  readonly refused: boolean;
}

/** Everything above the table, complete each time. */
export interface RunSnapshot extends SeedFigures {
  readonly run: RunRecord;
  /** Increases with every change; equal revisions are equal snapshots. */
  readonly revision: number;
  readonly finished: number;
  readonly running: number;
  readonly counts: Readonly<Record<EpisodeStatus, number>>;
  readonly stats: RewardStats;
  readonly histogram: Histogram | null;
  readonly series: RewardSeries;
  /** Sums over finished episodes, ms. */
  readonly time: { readonly restore: number; readonly act: number; readonly score: number; readonly terminate: number };
  readonly failures: readonly FailureGroup[];
  readonly components: readonly ComponentFigures[];
  readonly findings: readonly Finding[];
  /** Of a live run, while sandboxes wait to be created at a service. */
  readonly waits?: RunWaits;
  readonly episodesPerSecond: number | null;
  /** Wall time so far or in all, ms. */
  readonly durationMs: number;
}

export interface OutputText {
  /** Decoded text with ANSI escapes as the process wrote them; head and tail when it was long. */
  readonly text: string;
  /** Bytes that fell between head and tail or were not sent. */
  readonly dropped: number;
}

export interface ArtifactInfo {
  /** Path relative to the episode's artifact folder. */
  readonly path: string;
  readonly size: number;
}

export interface EpisodeDetail {
  readonly record: EpisodeRecord;
  readonly stdout: OutputText;
  readonly stderr: OutputText;
  readonly verifier?: OutputText;
  readonly artifacts: readonly ArtifactInfo[];
}

/** An artifact as far as it is shown. */
export interface ArtifactContent {
  readonly size: number;
  /** All of a picture or film, empty if it is too long; a text or table as far as it is shown. */
  readonly bytes: Uint8Array;
}

/** Episodes that can be selected one by one; more than these are a filter. */
export const MOST_SELECTED = 10_000;

/** What to bring into view: one episode, or the rows that match a filter. */
export interface RunViewTarget {
  readonly episode?: number;
  readonly filter?: string;
}

/** Requests from the webview, answered by the extension: name to parameters and result. */
export interface RunViewRequests {
  /** Sent first, when the page is up. */
  ready: { params: undefined; result: { snapshot: RunSnapshot; trusted: boolean; show?: RunViewTarget } };
  snapshot: { params: undefined; result: RunSnapshot };
  rows: { params: RowsQuery; result: Rows };
  groups: { params: GroupsQuery; result: Groups };
  episode: { params: { episode: number }; result: EpisodeDetail };
  artifact: { params: { episode: number; artifact: string }; result: ArtifactContent };
  /** Opens the artifact beside that of the same name of another episode, which a person picks. */
  compareArtifact: { params: { episode: number; artifact: string }; result: null };
  /** Copies all artifacts of the episode to a folder of a person's choice. */
  saveArtifacts: { params: { episode: number }; result: null };
  /** Opens in an editor of VS Code. */
  open: { params: { episode: number; what: 'stdout' | 'stderr' | 'verifier' | 'record' | 'trace' } | { episode: number; artifact: string }; result: null };
  action: { params: { action: 'rerun' | 'rerunFailed' | 'resume' | 'cancel' | 'compare' | 'reveal' | 'openTemplate' }; result: null };
  /** Exports the episodes that are named, else those that match the filter, once a person has said as what and where to. */
  export: { params: { episodes?: readonly number[]; where?: string }; result: null };
  /** Opens the traces of two episodes side by side. */
  compareEpisodes: { params: { a: number; b: number }; result: null };
}

/** Notifications from the extension to the webview. */
export interface RunViewNotifications {
  /** The run changed: ask for what is on screen again. What it is by now costs the engine something, so that the page says when. */
  changed: Record<string, never>;
  /** Sent when a person asks for something while the page is up already; before that it comes with `ready`. */
  show: RunViewTarget;
}

export type RunViewRequestName = keyof RunViewRequests;

export type ToExtension = { [K in RunViewRequestName]: { id: number; method: K; params: RunViewRequests[K]['params'] } }[RunViewRequestName];
export type ToWebview =
  | { id: number; result: unknown }
  | { id: number; error: string }
  | { [K in keyof RunViewNotifications]: { method: K; params: RunViewNotifications[K] } }[keyof RunViewNotifications];

/**
 * What the webview must keep with `setState`, beside whatever else it keeps: the page's `<rl-run-view data-run="...">` as it is. The extension finds
 * the run again by it after a reload of the window.
 */
export interface RunViewState {
  readonly run: string;
}
