/**
 * What the runner answers about live sandboxes and snapshots; part of `api.ts`. `id` is a sandbox's, where nothing else is said.
 *
 * Binary data is base64. Streams that are pushed (`stream/data`) stop after `STREAM_WINDOW` bytes until the client has said with `stream/ack` that
 * it has taken some. Files are pulled: opened, read or written piece by piece, closed. All that a connection has opened ends with it, but for
 * sandboxes and port forwards.
 */
import type { SnapshotChanges } from '../engine/snapshots/changes.js';
import type { PortForward, SandboxReport, SandboxUsage, ServiceReport, SnapshotList, SnapshotPruneReport, SnapshotPruneRequest, SnapshotReport, SnapshotUse, TerminateReport } from '../engine/sandboxReports.js';
import type { ExitStatus, FileChange, FileEntry, FileInfo, ListeningPort, SnapshotKind, TerminalSize } from '../sandbox/provider.js';

export type { PortForward, SandboxOrigin, SandboxReport, SandboxUsage, ServiceReport, SnapshotList, SnapshotPruneReport, SnapshotPruneRequest, SnapshotReport, SnapshotUse, TerminateReport } from '../engine/sandboxReports.js';

/** Most bytes of a stream that are under way without having been acknowledged. */
export const STREAM_WINDOW = 1 << 20;
/** Most bytes of one piece of a file. */
export const MOST_PIECE = 4 << 20;

interface At {
  readonly root: string;
  readonly id: string;
}

interface InSandbox {
  /** In the sandbox's own if absent. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface SandboxRequests {
  /**
   * A sandbox from a template, which is built if it must be, or from a snapshot. Output of the build arrives as `build/output`, with the template's
   * path. `keepMs`: how long it stays, -1 until somebody ends it, an hour if absent. Its services are started, and waited for.
   */
  'sandbox/open': { params: { root: string; file?: string; snapshot?: string; provider?: string; keepMs?: number }; result: SandboxReport };
  /**
   * A sandbox as one was after a step of a trace, `step` as the trace view numbers it: its snapshot, or with `current` what its template builds now,
   * and the actions up to there. Each arrives as `sandbox/step` of `progress`, a name that the client chooses. `step` of the answer is the number of
   * the last action, `difference` the first observation that was another one.
   */
  'sandbox/openAt': {
    params: { readonly root: string; readonly trace: string; readonly step: number; readonly current?: boolean; readonly keepMs?: number; readonly progress: string };
    result: { readonly sandbox: SandboxReport; readonly step: number; readonly difference?: string };
  };
  /** `measure` asks each sandbox of this engine for its use of the machine and its ports too. */
  'sandbox/list': { params: { root: string; measure?: boolean }; result: readonly SandboxReport[] };
  'sandbox/terminate': { params: At & { readonly provider: string }; result: null };
  /** All that were opened, forked or kept here, and the orphans. Episodes and builds under way go on. */
  'sandbox/terminateAll': { params: { root: string }; result: TerminateReport };
  /** Those of dead processes, on every provider that answers. */
  'sandbox/terminateOrphans': { params: { root: string }; result: TerminateReport };
  /** From now on it stays for `keepMs`, or with -1 until somebody ends it. */
  'sandbox/extend': { params: At & { readonly keepMs: number }; result: SandboxReport };
  /** Its processes are put on disk, and use nothing until `sandbox/resume`; terminals and commands have to be over. Its time goes on. */
  'sandbox/suspend': { params: At; result: SandboxReport };
  'sandbox/resume': { params: At; result: SandboxReport };
  /** A sandbox like this one as it is now, with its files, without its processes. */
  'sandbox/fork': { params: At & { readonly keepMs?: number }; result: SandboxReport };
  'sandbox/snapshot': { params: At & { readonly kind: SnapshotKind; readonly name?: string; readonly note?: string }; result: SnapshotReport };
  /** Runs to its end; output arrives as `stream/data` of `stream`, a name that the client chooses. Cancelling the request kills the command. */
  'sandbox/exec': { params: At & InSandbox & { readonly argv: readonly string[]; readonly stdin?: string; readonly timeoutMs?: number; readonly stream: string }; result: ExitStatus };
  'sandbox/stats': { params: At; result: SandboxUsage };
  'sandbox/changes': { params: At; result: readonly FileChange[] };
  'sandbox/ports': { params: At; result: { readonly ports: readonly ListeningPort[]; readonly forwards: readonly PortForward[] } };
  /** Leads a port of this machine to one of the sandbox: `localPort`, else the same number, else any that is free. The same one again if there is one. */
  'sandbox/forward': { params: At & { readonly port: number; readonly localPort?: number }; result: PortForward };
  'sandbox/unforward': { params: At & { readonly port: number }; result: null };
  'sandbox/services': { params: At; result: readonly ServiceReport[] };
  /** What a service has written since `from` (0 at first), as text without secrets. `next` is where to go on; `dropped` bytes are lost between. */
  'sandbox/logs': { params: At & { readonly service: string; readonly from: number }; result: { readonly text: string; readonly next: number; readonly dropped: number } };

  /** A shell, or `argv`, on a terminal. What it shows arrives as `stream/data` of `terminal`, its end as `terminal/exit`. */
  'terminal/open': { params: At & InSandbox & { readonly argv?: readonly string[]; readonly size: TerminalSize }; result: { readonly terminal: string } };
  /** `data` as text: what is typed. */
  'terminal/input': { params: { readonly root: string; readonly terminal: string; readonly data: string }; result: null };
  'terminal/resize': { params: { readonly root: string; readonly terminal: string; readonly size: TerminalSize }; result: null };
  /** Kills what runs on it. */
  'terminal/close': { params: { readonly root: string; readonly terminal: string }; result: null };
  'stream/ack': { params: { readonly root: string; readonly stream: string; readonly bytes: number }; result: null };

  'files/list': { params: At & { readonly path: string }; result: readonly FileEntry[] };
  'files/stat': { params: At & { readonly path: string }; result: FileInfo };
  'files/mkdir': { params: At & { readonly path: string }; result: null };
  'files/rename': { params: At & { readonly from: string; readonly to: string; readonly overwrite?: boolean }; result: null };
  /** With all below. */
  'files/remove': { params: At & { readonly path: string }; result: null };
  /** `original`: as it is in the snapshot that the sandbox was restored from. `snapshot`: `id` is that of a snapshot, and the file is as it is there. */
  'files/open': { params: At & { readonly path: string; readonly offset?: number; readonly length?: number; readonly original?: boolean; readonly snapshot?: boolean }; result: { readonly handle: string } };
  /** The next piece, of at most `MOST_PIECE` bytes. `end`: that was the last one, and the handle is closed. */
  'files/read': { params: { readonly root: string; readonly handle: string }; result: { readonly data: string; readonly end: boolean } };
  /** Begins to write a file, over the one that is there, whose mode it keeps unless another is given. `size` in bytes where it is known. */
  'files/create': { params: At & { readonly path: string; readonly mode?: number; readonly size?: number }; result: { readonly handle: string } };
  /** Answers when it has been taken. */
  'files/append': { params: { readonly root: string; readonly handle: string; readonly data: string }; result: null };
  'files/finish': { params: { readonly root: string; readonly handle: string }; result: null };
  /** Gives a handle up; one that is gone is a success. */
  'files/close': { params: { readonly root: string; readonly handle: string }; result: null };
  /** Files and folders of the sandbox into a folder of this machine, under their last names. Links that lead outside, devices and pipes are left out and told. */
  'files/download': { params: At & { readonly paths: readonly string[]; readonly to: string }; result: { readonly files: number; readonly bytes: number; readonly skipped: readonly string[] } };
  /** Files and folders of this machine into a folder of the sandbox. */
  'files/upload': { params: At & { readonly from: readonly string[]; readonly to: string }; result: null };

  'snapshot/list': { params: { root: string }; result: SnapshotList };
  /** An empty name takes it away. */
  'snapshot/rename': { params: At & { readonly name: string }; result: SnapshotReport };
  'snapshot/note': { params: At & { readonly note: string }; result: SnapshotReport };
  /** One that is pinned is not pruned. */
  'snapshot/pin': { params: At & { readonly pinned: boolean }; result: SnapshotReport };
  /** Refused while a run or a sandbox needs it. Tells the runs that used it. */
  'snapshot/delete': { params: At; result: { readonly usedBy: readonly SnapshotUse[] } };
  'snapshot/export': { params: At & { readonly file: string }; result: { readonly bytes: number } };
  'snapshot/import': { params: { root: string; file: string }; result: SnapshotReport };
  'snapshot/prune': { params: { root: string } & SnapshotPruneRequest; result: SnapshotPruneReport };
  /** Files that are other in it than in the one that it was made from, `parent`. Rejects if it was made from none, or that is gone. */
  'snapshot/changes': { params: At; result: SnapshotChanges };
  /** From the first one that it goes back to, to those that were made from it, in that order; one that is gone has only its id. */
  'snapshot/lineage': { params: At; result: readonly { readonly id: string; readonly snapshot?: SnapshotReport }[] };
}

export interface SandboxNotifications {
  /** A piece of a stream, to the connection that asked for it. `data` is base64. */
  'stream/data': { stream: string; channel: 'stdout' | 'stderr'; data: string };
  /** The command of a terminal has ended: with a code, or as `problem` says. All that it showed has been sent. */
  'terminal/exit': { terminal: string; code?: number; problem?: string };
  /** A step of a trace was taken again, of so many, for the `sandbox/openAt` that named `progress`. */
  'sandbox/step': { progress: string; step: number; of: number };
  /** A sandbox will be ended in `remainingMs`, unless it is extended. */
  'sandbox/expiring': { root: string; id: string; provider: string; remainingMs: number };
}
