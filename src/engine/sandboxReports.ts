/** What the engine tells about sandboxes that live and about snapshots, as data. Times are milliseconds since the epoch, durations milliseconds, sizes bytes. */
import type { ListeningPort, NetworkPolicy, SandboxInfo } from '../sandbox/provider.js';
import type { SnapshotRecord } from '../store/records.js';

/** How a sandbox came to be. `kept`: an episode's, which its template keeps. `other`: an episode or a build under way, or another process's. */
export type SandboxOrigin = 'opened' | 'forked' | 'kept' | 'other';

export interface SandboxUsage {
  /** Cores that were in use lately, such as 0.5; null until there are two measurements. */
  readonly cpu: number | null;
  /** Processor time so far; differences count. */
  readonly cpuMs: number;
  readonly memory: number;
  readonly pids: number;
  /** When it was measured, on a clock that only goes forward, of which differences count. */
  readonly at: number;
}

export interface PortForward {
  /** Of the sandbox. */
  readonly port: number;
  /** Of this machine, on 127.0.0.1. */
  readonly localPort: number;
  /** Connections that are open now. */
  readonly connections: number;
}

export interface ServiceReport {
  readonly name: string;
  readonly state: 'starting' | 'ready' | 'failed' | 'ended';
  /** Why it is not ready, or how it ended. Text from a sandbox may be part of it. */
  readonly problem?: string;
  /** From its start until it was ready. */
  readonly readyMs?: number;
}

export interface NetworkReport {
  readonly policy: NetworkPolicy;
  /** Requests that its proxy has refused since it was opened, and the last of them, as `host:port`: text from the sandbox. Absent if there are none. */
  readonly refused?: number;
  readonly lastRefused?: string;
}

/** A sandbox as a list shows it. */
export interface SandboxReport extends SandboxInfo {
  readonly origin: SandboxOrigin;
  /** Whether somebody pays for each second of it. */
  readonly billed?: boolean;
  /** Whether this engine holds it. Only then are there terminals, files, ports and all else; another one can only be ended. */
  readonly attached: boolean;
  /** Whether the process that made it is gone. */
  readonly orphan: boolean;
  /** Since it was made, by a clock that nobody sets where this engine holds it. */
  readonly ageMs: number;
  /** Until it is ended; null: not before somebody does. Absent for those of other processes. */
  readonly remainingMs?: number | null;
  /** Absolute path of the template that it was opened from. */
  readonly file?: string;
  /** Measured where that was asked for and the sandbox answers. */
  readonly usage?: SandboxUsage;
  readonly ports?: readonly ListeningPort[];
  /** Absent for those that this engine does not hold. */
  readonly network?: NetworkReport;
  /** Whether its provider has memory snapshots; whether they can be taken here, `doctor` says, or the attempt. */
  readonly memorySnapshots?: boolean;
  /** Whether it is one that can be suspended; whether that can be done here, `doctor` says, or the attempt. */
  readonly suspendable?: boolean;
  readonly forwards: readonly PortForward[];
  readonly services: readonly ServiceReport[];
}

export interface TerminateReport {
  readonly ended: number;
  /** Those that could not be ended. */
  readonly failed: readonly { readonly id: string; readonly provider: string; readonly message: string }[];
}

/** A run that used a snapshot. */
export interface SnapshotUse {
  readonly id: string;
  readonly number: number;
}

export interface SnapshotReport extends SnapshotRecord {
  /** What removing it alone would give back; absent if its provider does not answer. */
  readonly ownBytes?: number;
  /** False if it is in the registry but its provider does not have it any more. */
  readonly exists?: boolean;
  /** What of its template has changed since: `setup`, `files`, ...; `template` if that cannot be read. Empty: up to date. */
  readonly stale: readonly string[];
  /** Snapshots that were made from it. */
  readonly children: readonly string[];
  readonly usedBy: readonly SnapshotUse[];
  /** Sandboxes that live on it now. */
  readonly live: number;
}

export interface SnapshotList {
  /** Newest first. */
  readonly snapshots: readonly SnapshotReport[];
  /** On disk, what several share counted once. */
  readonly totalBytes: number;
}

export interface SnapshotPruneRequest {
  /** Made longer ago than this. */
  readonly olderThanMs?: number;
  /** The oldest, until those that stay take no more than this. */
  readonly keepBytes?: number;
  /** Only those that a newer build of the same template has replaced. */
  readonly replaced?: boolean;
  readonly dryRun?: boolean;
}

export interface SnapshotPruneReport {
  readonly removed: readonly { readonly id: string; readonly bytes: number }[];
  /** Those that would have gone but are in use. */
  readonly kept: readonly { readonly id: string; readonly why: string }[];
}
