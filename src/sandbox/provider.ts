/**
 * The one interface behind which sandboxes live. Every provider implements it and passes
 * `test/integration/conformance.ts`; everything else in the project knows only this file.
 */
import type { Duplex, Readable } from 'node:stream';
import type { NetworkRequest } from './network/proxy.js';

/** `none`: the sandbox's own loopback interface and nothing else. `full`: what the machine has. A list: the same as `none`, with a proxy that leads to these hosts only (`network/allowList.ts`). */
export type NetworkPolicy = 'none' | 'full' | { readonly allow: readonly string[] };
export type NetworkKind = 'none' | 'full' | 'allow';

/** What stands between a sandbox and the machine's kernel: the provider's own way, or gVisor's kernel in user space. */
export type Isolation = 'default' | 'gvisor';

/** How a limit is kept. `filesystem`: by the size of what is written to. `none` means that it is not enforced at all, and `doctor` says so. */
export type LimitMechanism = 'cgroup' | 'rlimit' | 'filesystem' | 'none';

/** What a provider can do, as data: the engine refuses early with it, and the editor underlines with it. */
export interface Capabilities {
  readonly gpu: boolean;
  readonly filesystemSnapshot: boolean;
  readonly memorySnapshot: boolean;
  /** Whether a sandbox can be suspended, if it was made for that. False if absent. */
  readonly suspend?: boolean;
  readonly network: readonly NetworkKind[];
  readonly isolation: readonly Isolation[];
  /** Whether episodes may run as another user than the image's. */
  readonly user: boolean;
  /** Whether episodes may have a root that is read-only. */
  readonly readOnly: boolean;
  /** Whether the template's `image` may name a container image. */
  readonly image: boolean;
  /** Whether the template's `image` may be a root folder (`./path`). */
  readonly rootFolder: boolean;
  readonly dockerfile: boolean;
  /** Whether setup may install Debian packages. */
  readonly aptPackages: boolean;
  /** How many restores of a run may be under way at once. Absent: any number, since a service has limits of its own, which its provider keeps. */
  readonly restoresAtOnce?: number;
  /** Longest life of one sandbox in seconds, where the provider sets one. */
  readonly maxSessionSeconds?: number;
}

/** Answer of `check()`. Never thrown: a provider that is missing is an ordinary state. */
export interface Health {
  readonly ok: boolean;
  /** One line: what was found, with its version (`Docker 20.10.24 at unix:///var/run/docker.sock`), or what is missing. */
  readonly summary: string;
  /** What a person can do about it; present when not ok. */
  readonly hint?: string;
  /** Stable name of the reason, for a view to hang an action on. */
  readonly code?: 'not-installed' | 'not-running' | 'permission' | 'wrong-context' | 'unsupported' | 'signed-out' | 'wrong-key' | 'no-network' | 'quota' | 'error';
  /** What is in force for each limit; absent when not ok. */
  readonly limits?: { readonly cpu: LimitMechanism; readonly memory: LimitMechanism; readonly pids: LimitMechanism; readonly disk: LimitMechanism };
  /** Why isolation of that kind cannot be had from it, in one line each; a kind that is not named can be had if the capabilities have it. */
  readonly lacks?: { readonly [kind in Isolation]?: string };
  /** Why memory cannot be snapshotted here by a provider that has memory snapshots, as the end of a sentence. */
  readonly noMemorySnapshots?: string;
  /** The same of sandboxes that are suspended, of a provider that can. */
  readonly noSuspend?: string;
  /** Of a service: which, how many sandboxes live there (of this project, where the service can tell), and what the plan allows. */
  readonly account?: { readonly service: string; readonly live: number; readonly concurrent: number; readonly creationsPerSecond: number };
  /** Further lines for `doctor`, as label and text. */
  readonly details?: Readonly<Record<string, string>>;
}

/** A GPU of the machine where sandboxes live. */
export interface GpuDevice {
  /** Who told of it, which is also how it is given to a container. */
  readonly via: 'nvidia' | 'cdi' | 'rocm';
  /** An identifier of NVIDIA's, a name of CDI (`nvidia.com/gpu=0`), a card (`card0`). */
  readonly id: string;
  /** What an author may call it by: its number first. */
  readonly names: readonly string[];
  readonly model?: string;
  /** Device files that it is used through, where those are what a container is given. */
  readonly nodes?: readonly string[];
}

export interface GpuRequest {
  /** Number of devices, or all of them. */
  readonly count: number | 'all';
  /** Model substring such as `A100`, where the author asked for one. */
  readonly model?: string;
  /** Numbers or identifiers of the devices, where the author asked for certain ones. */
  readonly ids?: readonly string[];
  /** How many sandboxes may use a device at the same time; one if absent. */
  readonly share?: number;
  /** Those that were handed out; the provider chooses if absent. */
  readonly devices?: readonly GpuDevice[];
}

/** Upper bounds of one sandbox. Absent means the provider's own bound. */
export interface Resources {
  /** Cores; fractions allowed. */
  readonly cpu?: number;
  /** Bytes. */
  readonly memory?: number;
  readonly pids?: number;
  /** Bytes that the sandbox may write. */
  readonly disk?: number;
  readonly gpu?: GpuRequest;
}

/** Who a sandbox belongs to: enough for any later process to find and reap it. */
export interface SandboxLabels {
  /** `pid:start-time:boot-id` of the owning process, see `src/sandbox/owner.ts`. */
  readonly owner: string;
  readonly run?: string;
  readonly episode?: number;
  readonly template?: string;
  readonly digest?: string;
  /** Id of the snapshot that it was restored from. */
  readonly snapshot?: string;
  /** Milliseconds since the epoch after which anyone may reap it. */
  readonly expires: number;
}

export interface SandboxSpec {
  readonly labels: SandboxLabels;
  readonly resources: Resources;
  /** Values here may be secrets: never written to a file, a label, a command line or a log. */
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly network: NetworkPolicy;
  /** Told of each request to the proxy, where there is one. */
  readonly onNetwork?: (request: NetworkRequest) => void;
  /** `default` if absent. The three that follow are those of a sandbox that is restored: one to be built from is set up as root, with a root that can be written to. */
  readonly isolation?: Isolation;
  /** Name or number in the sandbox, optionally `:` and a group; that of the image if absent. All that runs in it, transfers of files too, is this user's. */
  readonly user?: string;
  /**
   * Where alone it can be written to, besides `/tmp` and the working folder, as absolute paths; anywhere if absent. What the snapshot holds there is there. A folder that
   * is missing is made.
   */
  readonly writable?: readonly string[];
  /** Whether it is to be one that `suspend` is understood by, where its provider can. Such a one may outlast its first process, and is ended or reaped all the same. */
  readonly suspendable?: boolean;
  /** Milliseconds after which the sandbox ends by itself, whatever its owner does. */
  readonly lifetimeMs: number;
}

/** What all sandboxes of a template have in common. */
export type SandboxSettings = Pick<SandboxSpec, 'resources' | 'env' | 'network' | 'isolation' | 'user' | 'writable'>;

/** Where a build starts from. Exactly one is set; none of them means the provider's own default root. */
export interface BaseImage {
  /** Reference of a container image, or a root folder if it is absolute (the template's loader resolves `./`). */
  readonly image?: string;
  /** Absolute paths. */
  readonly dockerfile?: { readonly file: string; readonly context: string };
}

export type SnapshotKind = 'filesystem' | 'memory';

/** A snapshot as the provider knows it. The store keeps it; only the provider that made it reads `ref`. */
export interface ProviderSnapshot {
  readonly provider: string;
  readonly kind: SnapshotKind;
  /** The provider's own name of it: an image id, a folder. */
  readonly ref: string;
  readonly sizeBytes: number;
}

export interface SnapshotSizes {
  /** Bytes of all of them, what several share counted once. */
  readonly total: number;
  /** By `ref`: bytes that removing this one alone would give back. */
  readonly own: ReadonlyMap<string, number>;
}

export interface SandboxInfo {
  readonly id: string;
  readonly provider: string;
  readonly labels: SandboxLabels;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** A suspended one is `exited` to all who only list it. */
  readonly state: 'starting' | 'running' | 'suspended' | 'exited';
}

export interface OperationOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until the operation is given up with `OperationTimeout`. Providers have a default for each operation. */
  readonly timeoutMs?: number;
}

export interface BuildOptions extends OperationOptions {
  /** Progress of pulls and image builds, line by line. Text may come from an image build: treat as hostile. */
  readonly onOutput?: (chunk: Uint8Array) => void;
}

export interface RestoreOptions extends OperationOptions {
  /** Whether it may be given before it has shown that it is of its snapshot, for who has a command to run in it at once: that shows it, or rejects in its place before it has begun. */
  readonly lazily?: boolean;
}

/** Of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ExecOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** With `tty` it is what is typed, passed on as it comes; its end types nothing more, and ends nothing. */
  readonly stdin?: Readable | Uint8Array | string;
  /** Runs the command on a terminal of its own, of this size: all that it writes is on `stdout`, and `stderr` is empty. `TERM` is set unless `env` does. */
  readonly tty?: TerminalSize;
  /** Whether it belongs to the sandbox more than to whoever starts it: then it goes on in what is restored from a memory snapshot, where nobody reads what it writes. Without input and terminal. */
  readonly lasting?: boolean;
  /** A deadline kills what runs inside the sandbox, then `exit` rejects with `ExecTimeout`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ExitStatus {
  /** Exit code, 128 + n for signal n, as a shell gives it. */
  readonly code: number;
  /** Whether a limit of the sandbox killed the process. */
  readonly killedBy?: 'memory';
}

export interface ExecProcess {
  /** Bytes as the process wrote them. Both streams must be consumed; they apply back-pressure. They end, at the latest, shortly after `exit` settles. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects with `ExecTimeout`, `SandboxLost`, or the signal's reason. */
  readonly exit: Promise<ExitStatus>;
  /** Changes the size of the command's terminal, which is told of it (`SIGWINCH`). Without a terminal, or after the end, nothing happens. */
  resize(size: TerminalSize): void;
}

/** What a sandbox uses of the machine. */
export interface SandboxStats {
  /** Milliseconds of processor time on all cores together, counted from some moment that stays the same: the difference of two is the use between them. */
  readonly cpuMs: number;
  /** Bytes. */
  readonly memory: number;
  /** Processes. */
  readonly pids: number;
}

/** What a name stands for: of a link, what it leads to inside the sandbox, and `other` if that is nothing. */
export interface FileInfo {
  readonly type: 'file' | 'directory' | 'other';
  /** Whether the name itself is a link. */
  readonly link: boolean;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
}

export interface FileEntry extends FileInfo {
  readonly name: string;
}

/** A difference to the snapshot that a sandbox was restored from. */
export interface FileChange {
  /** Absolute path in the sandbox. A folder that was removed stands for all below; one that was added comes with all below. Folders are never `modified`. */
  readonly path: string;
  readonly kind: 'added' | 'modified' | 'removed';
}

/** More changes than this are not told one by one. */
export const MOST_CHANGES = 50_000;

/** A TCP port on which something in a sandbox listens. */
export interface ListeningPort {
  readonly port: number;
  /** As numbers: `127.0.0.1`, `0.0.0.0`, `::`. */
  readonly address: string;
}

export interface ReadOptions {
  /** Most bytes that the file may have. */
  readonly maxBytes?: number;
  /** First byte to send; beyond the end there are none. */
  readonly offset?: number;
  /** Most bytes to send. */
  readonly length?: number;
}

/**
 * Files in and out as streams, never a whole file in memory. Paths are absolute paths inside the sandbox.
 * Links are resolved inside the sandbox, never on the host.
 */
export interface SandboxFiles {
  /** Rejects with `NoSuchFile`; the stream is cut with an error after `maxBytes`. */
  read(path: string, options?: OperationOptions & ReadOptions): Promise<Readable>;
  /** Creates parent folders. `mode` defaults to 0o644. `size` is the length of a stream in bytes where it is known, which spares gathering it first. */
  write(path: string, data: Readable | Uint8Array | string, options?: OperationOptions & { readonly mode?: number; readonly size?: number }): Promise<void>;
  /** What is in a folder, in no order; names that are not UTF-8 come with U+FFFD. Rejects with `NoSuchFile`, also if it is no folder. */
  list(path: string, options?: OperationOptions): Promise<FileEntry[]>;
  /** Rejects with `NoSuchFile`. */
  stat(path: string, options?: OperationOptions): Promise<FileInfo>;
  /** Makes a folder and those above it; one that is there is a success. */
  mkdir(path: string, options?: OperationOptions): Promise<void>;
  /** Moves a file, link or folder. What is at `to` is an error (`FileExists`), unless `overwrite` and it is a file, a link or an empty folder. Rejects with `NoSuchFile`. */
  rename(from: string, to: string, options?: OperationOptions & { readonly overwrite?: boolean }): Promise<void>;
  /** Recursive; what is not there is a success. */
  remove(path: string, options?: OperationOptions): Promise<void>;
  /** Unpacks a tar stream into a folder, which is created. */
  upload(tar: Readable, directory: string, options?: OperationOptions): Promise<void>;
  /** A tar stream of all that matches the glob patterns (`*`, `?`, `[]`, `**`), names relative to `/`. Links are sent as links. */
  download(patterns: readonly string[], options?: OperationOptions): Promise<Readable>;
}

export interface Sandbox extends AsyncDisposable {
  readonly id: string;
  readonly info: SandboxInfo;
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  readonly files: SandboxFiles;
  /** `['sh', '-c', script]` or any other argument vector that the sandbox has. */
  exec(argv: readonly string[], options?: ExecOptions): ExecProcess;
  /** Kills every process inside except the sandbox's own first one, atomically: after it nothing that was running can write. */
  killAll(options?: OperationOptions): Promise<void>;
  stats(options?: OperationOptions): Promise<SandboxStats>;
  /** Differences to the snapshot that it was restored from, by path; `LimitExceeded` if they are more than `MOST_CHANGES`. */
  changes(options?: OperationOptions): Promise<FileChange[]>;
  /** Ports on which it listens now, by number. */
  ports(options?: OperationOptions): Promise<ListeningPort[]>;
  /** A connection to a port of its loopback interface, also where it has no network. Rejects with `NothingListens`. */
  connect(port: number, options?: OperationOptions): Promise<Duplex>;
  /** A kind that the provider's capabilities do not have is refused with `Unsupported`. */
  snapshot(kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot>;
  /**
   * Puts its processes with their memory on disk, where they use no processor and no memory, until `resume` has them go on. In between it can be ended, and its files can be
   * looked at where they are on this machine; all else is refused with `Suspended`, and so are commands whose connections end with this. Rejects with `Unsupported` where it cannot be, with why; then, and
   * after any other failure that the processes survive, they go on as if nothing had been asked. Its life goes on meanwhile. Absent where the capabilities do not have it.
   */
  suspend?(options?: OperationOptions): Promise<void>;
  /** The processes of a suspended one go on. When it fails they are still on disk. */
  resume?(options?: OperationOptions): Promise<void>;
  /** "Already gone" is a success. Resolves when nothing of the sandbox is left. */
  terminate(options?: OperationOptions): Promise<void>;
}

export interface Provider {
  readonly id: string;
  readonly title: string;
  readonly capabilities: Capabilities;
  check(options?: OperationOptions): Promise<Health>;
  /** The GPUs that its sandboxes can be given; undefined if it cannot tell, and hands them out itself. Absent where it has none. */
  gpus?(options?: OperationOptions): Promise<readonly GpuDevice[] | undefined>;
  /** Content digest of what a build would start from, for the build's cache key; pulls or builds the image if it must. */
  resolve(base: BaseImage, options?: BuildOptions): Promise<string>;
  /** A sandbox to set up and snapshot. It has what a package manager needs; one made by `restore` does not. */
  create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox>;
  restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: RestoreOptions): Promise<Sandbox>;
  /** Every sandbox of this project on this provider, whoever owns it, in whatever state its creation died. */
  list(options?: OperationOptions): Promise<SandboxInfo[]>;
  /** Ends a sandbox by id. "Already gone" is a success. */
  terminate(id: string, options?: OperationOptions): Promise<void>;
  /** Whether the snapshot still exists and can be restored. */
  hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean>;
  removeSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<void>;
  /** What these snapshots take on disk, without what they are based on. */
  sizes(snapshots: readonly ProviderSnapshot[], options?: OperationOptions): Promise<SnapshotSizes>;
  /** All of a snapshot as one stream, which only `importSnapshot` of the same provider reads. */
  exportSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<Readable>;
  /** Takes in what `exportSnapshot` gave, here or on another machine. Hostile: nothing is made outside the snapshot. When it fails nothing is kept. */
  importSnapshot(data: Readable, kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot>;
  /** At a service: for what sandboxes wait that are to be created, while some do. */
  waits?(): Waits | undefined;
  /** Closes connections. Sandboxes are not touched. */
  close(): Promise<void>;
}

/** Creations that wait at an account, of all who use it in this process. */
export interface Waits {
  readonly creations: number;
  /** Sandboxes that may live at once, for now. */
  readonly places: number;
  /** Creations, for now. */
  readonly perSecond: number;
  /** Whether one of these is less than the plan is known to allow, because the service has refused more. */
  readonly refused: boolean;
}

/** What a provider is made with. */
export interface ProviderContext {
  /** Private folder for what the provider keeps on disk (layers, ledgers); created on demand. */
  readonly stateDir: string;
  /** Variables that say where engines are; this process's own if absent. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly log: (message: string) => void;
}
