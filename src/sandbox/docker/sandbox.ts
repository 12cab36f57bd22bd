/** One container as a sandbox. */
import type Docker from 'dockerode';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SandboxError, Suspended, Unsupported } from '../errors.js';
import { PROXY_PORT } from '../network/relayPrograms.js';
import { listeningSockets, portsOf } from '../procNet.js';
import type { ExecOptions, ExecProcess, FileChange, ListeningPort, OperationOptions, ProviderSnapshot, Sandbox, SandboxFiles, SandboxInfo, SandboxSpec, SandboxStats, SnapshotKind } from '../provider.js';
import { EngineArchives } from './archiveAccess.js';
import { changesOf } from './changes.js';
import { removeContainer } from './container.js';
import type { Engine } from './engine.js';
import { DockerFiles } from './files.js';
import { requireWritesSeen } from './gvisor.js';
import { InsideArchives } from './insideArchives.js';
import type { Gate, Past } from './gate.js';
import { containerName } from './labels.js';
import type { MemorySnapshots } from './memory.js';
import { Processes } from './processes.js';
import { connectInside } from '../relayInside.js';
import { SOCKETS } from './shell.js';
import { commit } from './snapshots.js';
import { usageOf } from './stats.js';
import { resumeContainer, suspendContainer } from './suspension.js';

const SHORT_TIMEOUT_MS = 30_000;
const CHANGES_TIMEOUT_MS = 120_000;
const SNAPSHOT_TIMEOUT_MS = 900_000;

export class DockerSandbox implements Sandbox {
  readonly files: SandboxFiles;
  private readonly processes: Processes;
  private terminated = false;
  private resuming = false;
  private resumed = false;
  /** What there is of it while it is suspended. */
  private saved: { readonly checkpoint: string; readonly past: Past } | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly container: Docker.Container,
    gate: Gate,
    private readonly about: SandboxInfo,
    private readonly spec: SandboxSpec,
    /** `inherits`: whether something may run in it from the beginning. */
    private readonly memory: { readonly snapshots: MemorySnapshots; readonly inherits: boolean } | undefined,
    /** Why it cannot be suspended, as the end of a sentence; undefined if it can. */
    private readonly noSuspend: (signal: AbortSignal) => Promise<string | undefined>,
  ) {
    this.processes = new Processes(engine, container, gate, spec, memory?.inherits ?? false);
    const exec = (argv: readonly string[], more?: ExecOptions): ExecProcess => this.exec(argv, more);
    const inside = spec.user !== undefined || spec.writable !== undefined || spec.isolation === 'gvisor';
    this.files = new DockerFiles(engine, inside ? new InsideArchives(exec) : new EngineArchives(container, engine.kind.looseArchives), exec);
  }

  get ended(): Promise<void> {
    return this.processes.ended;
  }

  get id(): string {
    return this.about.id;
  }

  get info(): SandboxInfo {
    return this.saved ? { ...this.about, state: 'suspended' } : this.about;
  }

  /** Resolves when commands find all that they need. */
  ready(): Promise<void> {
    return this.processes.ready();
  }

  exec(argv: readonly string[], options?: ExecOptions): ExecProcess {
    return this.processes.exec(argv, options);
  }

  killAll(options?: OperationOptions): Promise<void> {
    return this.processes.killAll(options);
  }

  stats(options?: OperationOptions): Promise<SandboxStats> {
    if (this.saved) return Promise.reject(new Suspended());
    return this.engine.call('Measuring the sandbox', options, SHORT_TIMEOUT_MS, (_, signal) => usageOf(this.container, signal));
  }

  changes(options?: OperationOptions): Promise<FileChange[]> {
    return this.engine.call('Looking for what has changed', options, CHANGES_TIMEOUT_MS, async (_, signal) => {
      await this.requireWritesInRoot(signal);
      return this.changesNow(signal);
    });
  }

  ports(options?: OperationOptions): Promise<ListeningPort[]> {
    return this.engine.call('Looking for ports', options, SHORT_TIMEOUT_MS, async (_, signal) => {
      const child = this.exec(['sh', '-c', SOCKETS], { signal });
      child.stderr.resume();
      const [{ code }, tables] = await Promise.all([child.exit, text(child.stdout)]);
      if (code !== 0) throw new SandboxError(`the ports of the sandbox cannot be read: exit code ${code}`);
      const sockets = listeningSockets(tables);
      return portsOf(typeof this.spec.network === 'string' ? sockets : sockets.filter((each) => each.port !== PROXY_PORT));
    });
  }

  connect(port: number, options?: OperationOptions): Promise<Duplex> {
    return this.engine.call(`Connecting to port ${port}`, options, SHORT_TIMEOUT_MS, (_, signal) => connectInside((argv, more) => this.exec(argv, more), port, signal));
  }

  snapshot(kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    if (kind === 'memory') return this.snapshotMemory(options);
    return this.engine.call('Taking the snapshot', options, SNAPSHOT_TIMEOUT_MS, async (_, signal) => {
      await this.requireWritesInRoot(signal);
      return commit(this.engine, containerName(this.id), this.info.labels, { ...options, signal });
    });
  }

  private changesNow(signal: AbortSignal): Promise<FileChange[]> {
    return changesOf(this.container, this.engine.kind.looseArchives, signal);
  }

  /** The engine knows of what was written to the container's own root only. */
  private async requireWritesInRoot(signal: AbortSignal): Promise<void> {
    if (this.spec.writable !== undefined) throw new Unsupported(`with a read-only root ${this.engine.kind.title} does not know what the sandbox has written; leave \`read_only\` out to take a snapshot, or use bubblewrap`);
    if (this.spec.isolation === 'gvisor') await requireWritesSeen(this, () => this.changesNow(signal), signal);
  }

  private snapshotMemory(options: OperationOptions | undefined): Promise<ProviderSnapshot> {
    const { engine, memory, info, spec } = this;
    if (!memory) return Promise.reject(new Unsupported(`${engine.kind.title} cannot snapshot memory; take a snapshot of its files, or use Podman, which can`));
    // It would have to hold what is in the file systems of those folders, too.
    if (spec.writable !== undefined) return Promise.reject(new Unsupported('a sandbox with a read-only root cannot be snapshotted with its memory; leave `read_only` out'));
    return engine.call('Taking the memory snapshot', options, SNAPSHOT_TIMEOUT_MS, async (docker, signal) => {
      const missing = await memory.snapshots.missing(engine, signal);
      if (missing !== undefined) throw new Unsupported(`memory cannot be snapshotted here: ${missing}`);
      const past = await this.processes.past(signal);
      const made = await memory.snapshots.take(engine, docker, this.container.id, { owner: info.labels.owner, past, spec }, signal);
      return { provider: engine.kind.id, kind: 'memory', ...made };
    });
  }

  suspend(options?: OperationOptions): Promise<void> {
    return this.engine.call('Suspending the sandbox', options, SNAPSHOT_TIMEOUT_MS, async (_, signal) => {
      const missing = await this.noSuspend(signal);
      if (missing !== undefined) throw new Unsupported(`the sandbox cannot be suspended: ${missing}`);
      if (this.resumed && this.spec.isolation === 'gvisor') throw new Unsupported('the engine can suspend a sandbox with gVisor once only, and this one has been');
      await this.processes.suspend(signal, async (past) => {
        this.saved = { checkpoint: await suspendContainer(this.container), past };
      });
    });
  }

  resume(options?: OperationOptions): Promise<void> {
    return this.engine.call('Resuming the sandbox', options, SNAPSHOT_TIMEOUT_MS, async (_, signal) => {
      const { saved } = this;
      if (!saved || this.resuming) throw new SandboxError('the sandbox is not suspended');
      this.resuming = true;
      try {
        const gate = await resumeContainer(this.container, saved.checkpoint, signal);
        this.saved = undefined;
        this.resumed = true;
        this.processes.resume(gate, saved.past);
      } finally {
        this.resuming = false;
      }
    });
  }

  async terminate(options?: OperationOptions): Promise<void> {
    if (this.terminated) return;
    this.processes.end();
    await removeContainer(this.engine, containerName(this.id), options);
    this.terminated = true;
    this.processes.disconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.terminate();
  }
}
