/** Sandboxes as containers of a Docker engine, or of one that speaks its API. */
import type Docker from 'dockerode';
import type { Readable } from 'node:stream';
import { bound, within } from '../deadline.js';
import { BuildFailed, SandboxError, Unsupported } from '../errors.js';
import { gpuInventory } from '../gpuInventory.js';
import type { BaseImage, BuildOptions, Capabilities, GpuDevice, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, Sandbox, SandboxInfo, SandboxSpec, SnapshotKind, SnapshotSizes } from '../provider.js';
import { bringUp, containerOptions, newId, removeContainer, startContainer, type HostTraits, type ImageTraits, type Purpose } from './container.js';
import { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import type { Gate } from './gate.js';
import { verifyGpu } from './gpu.js';
import { requireGvisor, type Runtimes } from './gvisor.js';
import { checkEngine, hasDiskQuota } from './health.js';
import { resolveImage } from './images.js';
import { listOf, proxyVariables } from '../network/outlet.js';
import { containerName, ID_LABEL, sandboxInfo } from './labels.js';
import type { MemorySnapshots } from './memory.js';
import { DockerSandbox } from './sandbox.js';
import { hasImage, removeImage } from './snapshots.js';
import { missingForSuspension } from './suspension.js';
import { loadSnapshot, sizesOf } from './transfer.js';

const LIST_ATTEMPTS = 5;
const QUERY_TIMEOUT_MS = 30_000;
const GPU_TIMEOUT_MS = 60_000;
const TRANSFER_TIMEOUT_MS = 1_800_000;

export class DockerProvider implements Provider {
  readonly id: string;
  readonly title: string;
  readonly capabilities: Capabilities;
  private readonly hosts = new Map<string, Promise<HostTraits>>();
  private readonly devices = new Map<string, Promise<readonly GpuDevice[]>>();
  /** By image id, which always means the same content. */
  private readonly images = new Map<string, Promise<ImageTraits>>();

  constructor(
    protected readonly context: ProviderContext,
    protected readonly engine = new Engine(),
    private readonly memory?: MemorySnapshots,
  ) {
    ({ id: this.id, title: this.title, capabilities: this.capabilities } = engine.kind);
  }

  async check(options?: OperationOptions): Promise<Health> {
    const health = await checkEngine(this.engine, options);
    if (!health.ok) return health;
    const { memory, engine, capabilities } = this;
    const ask = (missing: (signal: AbortSignal) => Promise<string | undefined>): Promise<string | undefined> =>
      within('Looking for what saves processes', options, QUERY_TIMEOUT_MS, missing).catch((error: Error) => (options?.signal?.throwIfAborted(), error.message));
    const noMemorySnapshots = memory && (await ask((signal) => memory.missing(engine, signal)));
    const noSuspend = capabilities.suspend ? await ask((signal) => missingForSuspension(engine, { network: 'none' }, signal)) : undefined;
    const said = (missing: string | undefined): string => (missing === undefined ? 'yes' : `no: ${missing}`);
    return {
      ...health,
      ...(noMemorySnapshots !== undefined && { noMemorySnapshots }),
      ...(noSuspend !== undefined && { noSuspend }),
      details: { ...health.details, ...(memory && { 'memory snapshots': said(noMemorySnapshots) }), ...(capabilities.suspend && { 'suspend and resume': said(noSuspend) }) },
    };
  }

  /** Asked of this machine once; an engine elsewhere chooses by itself. */
  async gpus(options?: OperationOptions): Promise<readonly GpuDevice[] | undefined> {
    const { endpoint } = await this.engine.connect();
    if (endpoint.transport.kind !== 'socket') return undefined;
    return once(this.devices, '', options, () => gpuInventory({ env: this.engine.around.env }));
  }

  resolve(base: BaseImage, options?: BuildOptions): Promise<string> {
    return resolveImage(this.engine, base, options);
  }

  async create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox> {
    const image = await resolveImage(this.engine, base, options);
    return this.start(image, { ...spec, isolation: undefined, user: undefined, writable: undefined }, 'setup', options);
  }

  restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: OperationOptions): Promise<Sandbox> {
    return snapshot.kind === 'memory' ? this.resume(snapshot, spec, options) : this.start(snapshot.ref, spec, 'episode', options);
  }

  list(options?: OperationOptions): Promise<SandboxInfo[]> {
    return this.engine.call('Listing sandboxes', options, QUERY_TIMEOUT_MS, async (docker, signal) => {
      const ask = (): Promise<Docker.ContainerInfo[]> => docker.listContainers({ all: true, filters: { label: [ID_LABEL] }, abortSignal: signal });
      let containers: Docker.ContainerInfo[] | undefined;
      // Podman looks at the process of each, and gives no list at all if one ends just then.
      for (let left = LIST_ATTEMPTS; !containers; left -= 1) {
        containers = await ask().catch((error: unknown) => {
          if (left <= 1 || !/no such process/.test(reasonOf(error))) throw error;
          return undefined;
        });
      }
      return containers.flatMap((container) => sandboxInfo(container, this.id) ?? []);
    });
  }

  terminate(id: string, options?: OperationOptions): Promise<void> {
    return removeContainer(this.engine, containerName(id), options);
  }

  hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    if (snapshot.provider !== this.id) return Promise.resolve(false);
    const { memory } = this;
    if (snapshot.kind === 'filesystem') return hasImage(this.engine, snapshot.ref, options);
    return memory ? this.engine.call('Looking for the snapshot', options, QUERY_TIMEOUT_MS, (docker) => memory.has(docker, snapshot.ref)) : Promise.resolve(false);
  }

  removeSnapshot({ kind, ref }: ProviderSnapshot, options?: OperationOptions): Promise<void> {
    const { memory } = this;
    if (kind === 'filesystem' || !memory) return removeImage(this.engine, ref, options);
    return this.engine.call('Removing the snapshot', options, QUERY_TIMEOUT_MS, (docker, signal) => memory.remove(docker, ref, signal));
  }

  sizes(snapshots: readonly ProviderSnapshot[], options?: OperationOptions): Promise<SnapshotSizes> {
    return this.engine.call('Measuring snapshots', options, QUERY_TIMEOUT_MS, async (docker) => {
      const refs = (kind: SnapshotKind): ProviderSnapshot[] => snapshots.filter((snapshot) => snapshot.kind === kind);
      const files = await sizesOf(docker, refs('filesystem'));
      const memory = (await this.memory?.sizes(docker, refs('memory').map(({ ref }) => ref))) ?? new Map<string, number>();
      return { total: [...memory.values()].reduce((sum, bytes) => sum + bytes, files.total), own: new Map([...files.own, ...memory]) };
    });
  }

  async exportSnapshot({ kind, ref }: ProviderSnapshot, options?: OperationOptions): Promise<Readable> {
    const doing = 'Exporting the snapshot';
    const stream = await this.engine.call(doing, options, QUERY_TIMEOUT_MS, async (docker) => {
      if (kind === 'memory') return this.requireMemory().export(docker, ref);
      await docker.getImage(ref).inspect();
      return (await docker.getImage(ref).get()) as Readable;
    });
    return bound(stream, doing, options, TRANSFER_TIMEOUT_MS);
  }

  importSnapshot(data: Readable, kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    const { engine, id } = this;
    return engine
      .call('Importing the snapshot', options, TRANSFER_TIMEOUT_MS, async (docker, signal): Promise<ProviderSnapshot> => {
        if (kind === 'filesystem') return loadSnapshot(engine, docker, data, signal);
        return { provider: id, kind, ...(await this.requireMemory().import(engine, docker, data, signal)) };
      })
      .finally(() => void data.destroy());
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private requireMemory(): MemorySnapshots {
    if (!this.memory) throw new Unsupported(`${this.title} has no memory snapshots`);
    return this.memory;
  }

  private async start(image: string, spec: SandboxSpec, purpose: Purpose, options: OperationOptions | undefined): Promise<Sandbox> {
    const id = newId();
    // A list that is wrong is told before anything is made.
    listOf(spec.network);
    const { container, gate } = await this.startContainer(id, image, spec, purpose, options);
    return this.made(id, container, gate, spec, false, async () => {
      if (spec.resources.gpu) await this.engine.call('Looking for the GPU', options, GPU_TIMEOUT_MS, (_, signal) => verifyGpu(container, spec.resources.gpu!, signal));
    });
  }

  /** Of a container that runs. When it cannot be made ready it is ended before this rejects. */
  private async made(id: string, container: Docker.Container, gate: Gate, spec: SandboxSpec, inherits: boolean, prepare?: () => Promise<void>): Promise<Sandbox> {
    const info: SandboxInfo = { id, provider: this.id, labels: spec.labels, createdAt: Date.now(), state: 'running' };
    const env = { ...proxyVariables(spec.network), ...spec.env };
    const noSuspend = (signal: AbortSignal): Promise<string | undefined> => this.lackOfSuspension(spec, signal);
    const sandbox = new DockerSandbox(this.engine, container, gate, info, { ...spec, env }, this.memory && { snapshots: this.memory, inherits }, noSuspend);
    try {
      await sandbox.ready();
      await prepare?.();
      return sandbox;
    } catch (error) {
      await sandbox.terminate().catch((failure: Error) => this.context.log(`the sandbox ${id} could not be ended: ${failure.message}`));
      throw error;
    }
  }

  /** Why a sandbox cannot be suspended, as the end of a sentence. */
  private async lackOfSuspension(spec: SandboxSpec, signal: AbortSignal): Promise<string | undefined> {
    if (!this.capabilities.suspend) return `${this.title} cannot do that here`;
    const missing = await missingForSuspension(this.engine, spec, signal);
    // Of an engine that has been restarted with other settings since, the container is still what it was.
    return missing ?? (spec.suspendable && (await this.hostTraits({ signal })).checkpoints ? undefined : 'it was not made for that; open or fork another one');
  }

  /** A sandbox in which the processes of a memory snapshot go on. */
  private async resume({ ref }: ProviderSnapshot, spec: SandboxSpec, options: OperationOptions | undefined): Promise<Sandbox> {
    const [engine, memory] = [this.engine, this.requireMemory()];
    listOf(spec.network);
    const past = await engine.call('Looking at the snapshot', options, QUERY_TIMEOUT_MS, (docker) => memory.past(docker, ref, spec));
    const id = newId();
    const begin = (_: unknown, __: AbortSignal, gate: Gate): Promise<void> => Promise.resolve(gate.adopt(past, Math.ceil(spec.lifetimeMs / 1000)));
    const { container, gate } = await bringUp(engine, containerName(id), (docker) => memory.restore(docker, ref, id, spec), begin, options);
    return this.made(id, container, gate, spec, true);
  }

  private async startContainer(id: string, image: string, spec: SandboxSpec, purpose: Purpose, options: OperationOptions | undefined): ReturnType<typeof startContainer> {
    try {
      const [host, traits] = await Promise.all([this.hostTraits(options), this.imageTraits(image, options)]);
      if (spec.isolation === 'gvisor') requireGvisor(host.runtimes, spec.network);
      return await startContainer(this.engine, containerOptions(id, image, traits, spec, purpose, host), options);
    } catch (error) {
      const cause = error instanceof SandboxError ? error.cause : undefined;
      if (statusOf(cause) === undefined) throw error;
      const reason = reasonOf(cause);
      if (/no such image/i.test(reason)) throw new BuildFailed(`the image ${image} is no longer on the ${this.engine.kind.noun}`, '', { cause });
      if (/"\/bin\/sh".*(no such file|not found|permission denied)/i.test(reason)) throw new BuildFailed(`the image ${image} has no /bin/sh, which a sandbox needs`, '', { cause });
      if (spec.user !== undefined && /unable to find user|no matching entries in (passwd|group)/i.test(reason)) throw new BuildFailed(`the image has no user ${spec.user}: make it in setup`, '', { cause });
      if (/invalid mount|storage-opt/i.test(reason)) throw new Unsupported(`this ${this.engine.kind.noun} cannot limit the disk: ${reason}`, { cause });
      throw error;
    }
  }

  /** Asked once for each image, since a snapshot is restored hundreds of times. */
  private imageTraits(image: string, options: OperationOptions | undefined): Promise<ImageTraits> {
    return once(this.images, image, options, () =>
      this.engine.call('Looking at the image', undefined, QUERY_TIMEOUT_MS, async (docker) => {
        const { User, WorkingDir } = (await docker.getImage(image).inspect()).Config;
        return { root: /^(root|0)?(:|$)/.test(User ?? ''), workdir: WorkingDir || '/' };
      }),
    );
  }

  /** Asked once, since it does not change while an engine runs. */
  private hostTraits(options: OperationOptions | undefined): Promise<HostTraits> {
    return once(this.hosts, '', options, () =>
      this.engine.call(`Asking the ${this.engine.kind.noun}`, undefined, QUERY_TIMEOUT_MS, async (docker) => {
        const info = (await docker.info()) as { NCPU?: number; Driver?: string; Runtimes?: Runtimes; ExperimentalBuild?: boolean };
        return { cpus: info.NCPU ?? Infinity, diskQuota: hasDiskQuota(info), runtimes: info.Runtimes ?? {}, checkpoints: this.capabilities.suspend === true && info.ExperimentalBuild === true };
      }),
    );
  }
}

/** The answer to a question that is asked once, unless it fails. */
function once<T>(answers: Map<string, Promise<T>>, key: string, options: OperationOptions | undefined, ask: () => Promise<T>): Promise<T> {
  options?.signal?.throwIfAborted();
  let answer = answers.get(key);
  if (!answer) {
    answer = ask();
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
  }
  return answer;
}
