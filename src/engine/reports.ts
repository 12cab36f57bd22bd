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

