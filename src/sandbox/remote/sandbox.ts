/** One sandbox of a service. */
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { within } from '../deadline.js';
import { newNonce } from '../marked/marker.js';
import { connectInside } from '../relayInside.js';
import { SandboxError, SandboxLost, Suspended, Unsupported } from '../errors.js';
import type { Listing } from '../listing.js';
import { listeningSockets, portsOf } from '../procNet.js';
import type { ExecOptions, ExecProcess, FileChange, ListeningPort, OperationOptions, ProviderSnapshot, Sandbox, SandboxFiles, SandboxInfo, SandboxSpec, SandboxStats, SnapshotKind } from '../provider.js';
import { findChanges, readListing } from './changes.js';
import { Commands } from './commands.js';
import { RemoteFiles } from './files.js';
import { refOf, type Layer, type Layers } from './layers.js';
import type { Place } from './limiter.js';
import type { Endpoint } from './service.js';
import { CHANGED, LISTEN, LOOK, MARK, SING, SOCKETS, USAGE } from './shell.js';

const SHORT_TIMEOUT_MS = 30_000;
const ARRIVAL_TIMEOUT_MS = 60_000;
const CHANGES_TIMEOUT_MS = 180_000;
const SNAPSHOT_TIMEOUT_MS = 900_000;
const TERMINATE_TIMEOUT_MS = 60_000;
/** Clock ticks of proc(5) in a second, and bytes of a page, of the service's machines. */
const TICKS = 100;
const PAGE = 4096;

export interface SandboxParts {
  readonly title: string;
  readonly endpoint: Endpoint;
  readonly layers: Layers;
  readonly place: Place;
  /** Has the service copy it, and gives the copy's name. */
  readonly copy: (signal: AbortSignal, kind: SnapshotKind) => Promise<string>;
  /** Whether such a copy holds what runs, too. */
  readonly copiesMemory?: true;
  /** Of the snapshot that it was restored from; `filesystem` if absent. */
  readonly kind?: SnapshotKind;
  /** Has the service put all that runs on disk, and have it go on with so many milliseconds to live. Absent where it cannot. */
  readonly sleep?: { readonly begin: (signal: AbortSignal) => Promise<void>; readonly end: (lifetimeMs: number, signal: AbortSignal) => Promise<void> };
  /** Has the service end it. "Already gone" is a success. */
  readonly end: (signal: AbortSignal) => Promise<void>;
  readonly info: SandboxInfo;
  readonly spec: SandboxSpec;
  /** Of its machine in MiB, where that may be more than was asked for. */
  readonly memoryMB?: number;
  /** What the snapshot that it was restored from has left in it. */
  readonly mark?: string;
  /** Whether the service copies what runs along with what is on disk. */
  readonly copied: boolean;
  /** Of the snapshot that it was restored from. */
  readonly below: readonly Layer[];
  /** Another one of the same snapshot, to compare with. */
  readonly twin: (signal: AbortSignal) => Promise<RemoteSandbox>;
  readonly onEnd: () => void;
}

export class RemoteSandbox implements Sandbox {
  readonly id: string;
  readonly files: SandboxFiles;
  private readonly commands: Commands;
  private ending: Promise<void> | undefined;
  /** What tells whether all has come back, while it is suspended. */
  private canary: string | undefined;
  private resuming = false;

  constructor(private readonly parts: SandboxParts) {
    const { endpoint, info, spec, memoryMB, mark, copied, kind, title } = parts;
    this.id = info.id;
    const wanted = spec.resources.memory;
    const memory = wanted !== undefined && memoryMB !== undefined && wanted < memoryMB * 2 ** 20 ? wanted : undefined;
    this.commands = new Commands(endpoint, { env: spec.env, workdir: spec.workdir, memory, endsAt: Date.now() + spec.lifetimeMs, mark, copied: copied && (kind === 'memory' ? 'kept' : 'killed'), title });
    this.files = new RemoteFiles(
      (argv, options) => this.exec(argv, options),
      (argv, options) => this.commands.send(argv, options),
      async (path, data, signal) => {
        await this.commands.arrive();
        await this.commands.awake();
        return endpoint.upload(path, data, signal);
      },
      (error, doing) => this.explain(error, doing),
    );
  }

  get ended(): Promise<void> {
    return this.commands.ended;
  }

  get info(): SandboxInfo {
    return this.canary === undefined ? this.parts.info : { ...this.parts.info, state: 'suspended' };
  }

  /** Makes it ready before a first command does. Rejects if it is not of its snapshot, as all that is asked of it does then. */
  arrive(options?: OperationOptions): Promise<unknown> {
    return within('Restoring the sandbox', options, ARRIVAL_TIMEOUT_MS, () => this.commands.arrive());
  }

  exec(argv: readonly string[], options?: ExecOptions): ExecProcess {
    return this.commands.exec(argv, options);
  }

  killAll(options?: OperationOptions): Promise<void> {
    return this.commands.killAll(options);
  }

  stats(options?: OperationOptions): Promise<SandboxStats> {
    return within('Measuring the sandbox', options, SHORT_TIMEOUT_MS, async (signal) => {
      const [ticks, pages, pids] = (await this.commands.say(USAGE, [], signal)).trim().split(' ').map(Number);
      if (!(pids! >= 0)) throw new SandboxError('the sandbox cannot be measured: it gave no figures');
      return { cpuMs: (ticks! * 1000) / TICKS, memory: pages! * PAGE, pids: pids! };
    });
  }

  changes(options?: OperationOptions): Promise<FileChange[]> {
    return within('Looking for what has changed', options, CHANGES_TIMEOUT_MS, async (signal) => {
      let twin: Promise<RemoteSandbox> | undefined;
      try {
        return await findChanges({
          changed: () => this.listing(CHANGED, [], [], signal),
          look: async (side, paths, depth) => {
            const sandbox = side === 'now' ? this : await (twin ??= this.parts.twin(signal));
            return sandbox.listing(LOOK, [String(depth)], paths, signal);
          },
        });
      } finally {
        await twin?.then((each) => each.terminate(), () => undefined);
      }
    });
  }

  ports(options?: OperationOptions): Promise<ListeningPort[]> {
    return within('Looking for ports', options, SHORT_TIMEOUT_MS, async (signal) => {
      const said = await this.commands.say(SOCKETS, [await this.commands.arrive()], signal);
      const held = new Set([...said.matchAll(/ -> socket:\[(\d+)\]$/gm)].map(([, inode]) => Number(inode)));
      return portsOf(listeningSockets(said).filter(({ inode }) => held.has(inode)));
    });
  }

  connect(port: number, options?: OperationOptions): Promise<Duplex> {
    return within(`Connecting to port ${port}`, options, SHORT_TIMEOUT_MS, (signal) => connectInside((argv, more) => this.exec(argv, more), port, signal));
  }

  /**
   * Where a copy of the service holds memory too, one of files is the same, and what runs is killed when a sandbox arrives from it.
   * The mark is what tells a sandbox of it from one that the service has started anew.
   */
  snapshot(kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    const { copy, copiesMemory, layers, memoryMB, below, title } = this.parts;
    if (kind === 'memory' && !copiesMemory) return Promise.reject(new Unsupported(`memory snapshots of ${title} are not supported; take a filesystem snapshot`));
    return within('Taking the snapshot', options, SNAPSHOT_TIMEOUT_MS, async (signal) => {
      const mark = newNonce();
      const bytes = Math.max(1, Number((await this.commands.say(MARK, [mark], signal)).trim()));
      const snapshotId = kind === 'memory' ? await this.withCanary(mark, signal, () => copy(signal, kind)) : await copy(signal, kind);
      await layers.add(snapshotId, below, bytes);
      return { provider: this.info.provider, kind, ref: refOf({ snapshotId, mark, memoryMB }), sizeBytes: bytes };
    });
  }

  private async withCanary<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.commands.say(SING, [name], signal);
    try {
      return await work();
    } finally {
      await this.commands.say(LISTEN, [name], signal).catch(() => undefined);
    }
  }

  suspend(options?: OperationOptions): Promise<void> {
    const { sleep, title } = this.parts;
    if (!sleep) return Promise.reject(new Unsupported(`${title} cannot suspend a sandbox`));
    return within('Suspending the sandbox', options, SNAPSHOT_TIMEOUT_MS, async (signal) => {
      const canary = newNonce();
      await this.commands.say(SING, [canary], signal);
      await this.commands.suspend(async () => {
        await sleep.begin(signal);
        this.canary = canary;
      }).catch(async (error: unknown) => {
        await this.commands.say(LISTEN, [canary], signal).catch(() => undefined);
        throw error;
      });
    });
  }

  resume(options?: OperationOptions): Promise<void> {
    return within('Resuming the sandbox', options, SNAPSHOT_TIMEOUT_MS, async (signal) => {
      const { canary } = this;
      if (canary === undefined || this.resuming) throw new SandboxError('the sandbox is not suspended');
      this.resuming = true;
      try {
        const { createdAt } = this.parts.info;
        await this.parts.sleep!.end(Math.max(1000, createdAt + this.parts.spec.lifetimeMs - Date.now()), signal);
        this.canary = undefined;
        this.commands.resume();
      } finally {
        this.resuming = false;
      }
      const [alive, own = ''] = (await this.commands.say(LISTEN, [canary], signal)).split('\n');
      this.commands.own(own);
      if (!alive) throw new SandboxError(`${this.parts.title} has brought back the files of the sandbox, and not what ran in it`);
    });
  }

  terminate(options?: OperationOptions): Promise<void> {
    this.commands.end('the sandbox was terminated');
    this.ending ??= within('Ending the sandbox', options, TERMINATE_TIMEOUT_MS, async (signal) => {
      await this.parts.end(signal);
      this.parts.place.release();
      this.parts.onEnd();
    }).catch((error: unknown) => {
      this.ending = undefined;
      // The service ends it then.
      setTimeout(() => this.parts.place.release(), Math.max(0, this.info.createdAt + this.parts.spec.lifetimeMs - Date.now())).unref();
      throw error;
    });
    return this.ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.terminate();
  }

  private async listing(script: string, args: readonly string[], paths: readonly string[], signal: AbortSignal): Promise<Listing> {
    const child = this.exec(['sh', '-c', script, 'sh', ...args], { signal, stdin: paths.map((path) => `${path}\0`).join('') });
    child.stderr.resume();
    const [said] = await Promise.all([buffer(child.stdout), child.exit]);
    return readListing(said.toString());
  }

  private async explain(error: unknown, doing: string): Promise<unknown> {
    const unable: unknown = await this.commands.awake().catch((reason: unknown) => reason);
    if (unable instanceof Suspended) return unable;
    const there = await within('Looking for the sandbox', undefined, SHORT_TIMEOUT_MS, (signal) => this.parts.endpoint.answers(signal)).catch(() => undefined);
    if (there !== false) return this.parts.endpoint.translate(error, doing);
    this.commands.end('the sandbox has ended');
    return new SandboxLost(`${doing} failed: the sandbox has ended`, { cause: error });
  }
}
