/** What the engine tells about providers, templates and runs, as data. */
import type { Health } from '../sandbox/provider.js';
import type { RunRecord, RunTotals, SnapshotRecord } from '../store/records.js';
import type { Problem } from '../template/template.js';

export interface ProviderReport extends Health {
  readonly id: string;
  readonly title: string;
}

export interface DoctorReport {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  /** What `auto` takes now, and why, in one sentence; absent if nothing answers. */
  readonly chosen?: { readonly id: string; readonly why: string };
  readonly providers: readonly ProviderReport[];
}

export interface TemplateStatus {
  readonly file: string;
  readonly name?: string;
  readonly state: 'invalid' | 'unbuilt' | 'built' | 'stale';
  /** Which parts changed since the newest snapshot, for `stale`. */
  readonly changed?: readonly string[];
  readonly snapshots: readonly SnapshotRecord[];
  /** The snapshot that a run would use now. */
  readonly current?: string;
  readonly problems: readonly Problem[];
}

/** What a run is likely to cost at a provider that bills, in dollars. */
export interface CostEstimate {
  readonly provider: string;
  readonly title: string;
  /** Null where no price is known; `unknown` says of what. */
  readonly dollars: number | null;
  readonly unknown?: string;
  readonly episodes: number;
  /** Of all sandboxes of an episode together. */
  readonly secondsEach: number;
  /** How long each stays after its episode, which is billed. */
  readonly keepWarmMs?: number;
  /** Number of the run that `secondsEach` is of; absent where it is what an episode may take at most. */
  readonly previous?: number;
  /** Of one sandbox; their mean, where an episode takes several. */
  readonly perHour: number | null;
  /** Day of the prices. */
  readonly asOf: string;
  readonly maxCost?: number;
}

/** A run as the tree shows it. */
export interface RunSummary extends RunTotals {
  readonly run: RunRecord;
  /** Episodes in flight. */
  readonly running: number;
}

export interface BuildResult {
  readonly snapshot: SnapshotRecord;
  /** False if it was there already. */
  readonly built: boolean;
}

