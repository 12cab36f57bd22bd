/**
 * What lies on disk under `.rlenv/`, as types: the trainer reads the same files. Times are milliseconds since the epoch,
 * durations milliseconds, sizes bytes. A reward that could not be computed is `null`, never 0.
 */
import type { ProviderSnapshot, SandboxSettings } from '../sandbox/provider.js';

export type EpisodeStatus = 'completed' | 'truncated' | 'error' | 'cancelled';
export type RunState = 'building' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

/** Why a reward is `null`. */
export type RewardProblemCode =
  | 'missing'
  | 'empty'
  | 'not-numeric'
  | 'not-finite'
  | 'out-of-range'
  | 'too-large'
  | 'conflicting'
  | 'verifier-failed'
  | 'timed-out'
  | 'infrastructure';

export interface RewardProblem {
  readonly code: RewardProblemCode;
  /** One sentence for a person; may quote text from a sandbox. */
  readonly message: string;
}

export interface RewardComponent {
  readonly name: string;
  readonly weight: number;
  /** `null` with `problem` if it could not be computed. */
  readonly value: number | null;
  readonly problem?: RewardProblem;
  /** What the value was made of (`6 of 8 tests passed`). */
  readonly detail?: string;
}

/** A reward, or why there is none. */
export interface RewardOutcome {
  /** Sum of weight x value; `null` if any component is. */
  readonly reward: number | null;
  readonly components: readonly RewardComponent[];
  readonly problem?: RewardProblem;
}

export interface EpisodeTimings {
  readonly restore: number;
  readonly act: number;
  readonly score: number;
  readonly terminate: number;
  /** From the first attempt's start to the last one's end, waits between attempts included. */
  readonly total: number;
}

/** One line of `episodes.jsonl`: a finished episode. */
export interface EpisodeRecord extends RewardOutcome {
  /** From 0; seed index x samples + sample. */
  readonly episode: number;
  readonly seed: number;
  readonly sample: number;
  readonly status: EpisodeStatus;
  /** Why it is not `completed`, or why there is no reward: `<code>: <sentence>`. What failures are grouped by is the code. */
  readonly cause?: string;
  readonly exitCode?: number;
  readonly steps: number;
  readonly attempts: number;
  readonly startedAt: number;
  readonly timings: EpisodeTimings;
  /** Bytes that were written, and how many of them were not kept. */
  readonly output: { readonly stdout: number; readonly stderr: number; readonly dropped: number };
  readonly artifacts: number;
}

export interface SnapshotRecord extends ProviderSnapshot {
  readonly id: string;
  readonly template: string;
  /** Absolute path of the template it was built from. */
  readonly file: string;
  /** Digest of all that went into the build, and of each part, so that "stale" can say which part changed. */
  readonly digest: string;
  readonly parts: Readonly<Record<string, string>>;
  /** Content digest of the base that the build started from. */
  readonly base: string;
  readonly createdAt: number;
  readonly buildMs: number;
  /** How it came to be; a build if absent. Only builds are what a run restores by itself. */
  readonly origin?: 'sandbox' | 'import';
  /** Id of the snapshot that its sandbox was restored from. */
  readonly parent?: string;
  /** What a person calls it. */
  readonly name?: string;
  readonly note?: string;
  /** What sandboxes get that are restored from it when its template cannot be read. No secrets. */
  readonly settings?: SandboxSettings;
  /** Whether it is never pruned. */
  readonly pinned?: boolean;
  /** Owner, as in the sandboxes' labels, of a snapshot that is needed only while a fork of a sandbox lives. It is in no list. */
  readonly temporary?: string;
}

/** What is kept of a snapshot that was deleted. */
export interface DeletedSnapshot {
  readonly id: string;
  readonly template: string;
  readonly deletedAt: number;
  readonly usedBy: readonly { readonly id: string; readonly number: number }[];
}

/** What a run was asked to do; enough to resume it. */
export interface RunSpec {
  /** Absolute path of the template. */
  readonly file: string;
  readonly template: string;
  readonly provider: string;
  readonly seeds: { readonly first: number; readonly last: number } | { readonly list: readonly number[] };
  readonly samples: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly policy: string;
  /** Of a replay: absolute path of the trace, or of the folder of a run whose episodes are replayed. */
  readonly trace?: string;
  /** Where its episodes begin, if not at the snapshot. */
  readonly fork?: ForkOrigin;
  /** Id of the snapshot that episodes start from, where that is not the template's build. */
  readonly from?: string;
  /** Dollars that it may cost; no cap if absent. */
  readonly maxCost?: number;
  /** Episodes to run, if not all: a rerun of the failed ones. */
  readonly only?: readonly number[];
}

/** A state that a recorded episode had come to. */
export interface ForkOrigin {
  /** Absolute path of the trace. */
  readonly trace: string;
  /** Number of the last step that is taken again. */
  readonly step: number;
  /** Run of the trace, if it is of one, and its episode. */
  readonly run?: string;
  readonly episode: number;
  /** Id of the snapshot that the steps are taken on; absent if what the template builds takes its place. */
  readonly snapshot?: string;
}

/** `run.json`. */
export interface RunRecord extends RunSpec {
  readonly id: string;
  /** 1, 2, 3, ... within the workspace, for people. */
  readonly number: number;
  readonly state: RunState;
  /** Why it failed, in one sentence. */
  readonly error?: string;
  /** Owner as in the sandboxes' labels: a run whose owner is dead is `interrupted`. */
  readonly owner: string;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  /** The template as it was when the run began. */
  readonly templateDigest: string;
  /** The same for what was asked of the episodes, and for how they were scored, which are no part of a build. SHA-256, hex. */
  readonly asked?: { readonly episode: string; readonly reward: string };
  readonly snapshot?: { readonly id: string; readonly built: boolean; readonly buildMs: number };
  readonly total: number;
  /** At a provider that bills: what its sandboxes have cost so far, by the price table. */
  readonly cost?: RunCost;
  /** Why there is no `cost`, though something is billed: of what no price is known, as the end of a sentence. */
  readonly costUnknown?: string;
  /** Of a run that was ended before all of its episodes were: by whom, and what came of the others. None of these has a record; a resume runs them. */
  readonly stopped?: { readonly by: 'max_cost' | 'person'; readonly underWay: number; readonly notStarted: number };
  /** What came of it, written when it ends, so that a list of runs reads no episodes. */
  readonly summary?: RunTotals;
}

/** A sum as it stood at a moment. */
export interface RunCost {
  /** Dollars. */
  readonly spent: number;
  /** Seconds that sandboxes have lived. */
  readonly seconds: number;
  /** Dollars a second of those that lived then. */
  readonly perSecond: number;
  /** When. */
  readonly at: number;
}

/** The figures that stand beside a run in a list. */
export interface RunTotals {
  readonly finished: number;
  readonly errors: number;
  /** Finished episodes without a reward. */
  readonly unscored: number;
  readonly mean: number | null;
  /** Half width of the 95 % interval of the mean. */
  readonly ci95: number | null;
  readonly episodesPerSecond: number | null;
}
