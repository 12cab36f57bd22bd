/** Sandboxes as containers of a Docker engine, or of one that speaks its API. */
import type { Readable } from 'node:stream';
import { bound } from '../deadline.js';
import { BuildFailed, SandboxError, Unsupported } from '../errors.js';
import { gpuInventory } from '../gpuInventory.js';
import type { BaseImage, BuildOptions, Capabilities, GpuDevice, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, Sandbox, SandboxInfo, SandboxSpec, SnapshotKind, SnapshotSizes } from '../provider.js';
import { containerOptions, newId, removeContainer, startContainer, type HostTraits, type ImageTraits, type Purpose } from './container.js';
import { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import { verifyGpu } from './gpu.js';
import { requireGvisor, type Runtimes } from './gvisor.js';
import { checkEngine, hasDiskQuota } from './health.js';
import { resolveImage } from './images.js';
import { listOf, proxyVariables } from '../network/outlet.js';
import { containerName, ID_LABEL, sandboxInfo } from './labels.js';
import { DockerSandbox } from './sandbox.js';
import { hasImage, removeImage } from './snapshots.js';
import { loadSnapshot, sizesOf } from './transfer.js';

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
  ) {
    ({ id: this.id, title: this.title, capabilities: this.capabilities } = engine.kind);
  }

  check(options?: OperationOptions): Promise<Health> {
    return checkEngine(this.engine, options);
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
    return this.start(snapshot.ref, spec, 'episode', options);
  }

  list(options?: OperationOptions): Promise<SandboxInfo[]> {
    return this.engine.call('Listing sandboxes', options, QUERY_TIMEOUT_MS, async (docker, signal) => {
      const containers = await docker.listContainers({ all: true, filters: { label: [ID_LABEL] }, abortSignal: signal });
      return containers.flatMap((container) => sandboxInfo(container, this.id) ?? []);
    });
  }

  terminate(id: string, options?: OperationOptions): Promise<void> {
    return removeContainer(this.engine, containerName(id), options);
  }

  hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    return snapshot.provider === this.id && snapshot.kind === 'filesystem' ? hasImage(this.engine, snapshot.ref, options) : Promise.resolve(false);
  }

  removeSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<void> {
    return removeImage(this.engine, snapshot.ref, options);
  }

  sizes(snapshots: readonly ProviderSnapshot[], options?: OperationOptions): Promise<SnapshotSizes> {
    return this.engine.call('Measuring snapshots', options, QUERY_TIMEOUT_MS, (docker) => sizesOf(docker, snapshots));
  }

  async exportSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<Readable> {
    const doing = 'Exporting the snapshot';
    const stream = await this.engine.call(doing, options, QUERY_TIMEOUT_MS, async (docker) => {
      await docker.getImage(snapshot.ref).inspect();
      return (await docker.getImage(snapshot.ref).get()) as Readable;
    });
    return bound(stream, doing, options, TRANSFER_TIMEOUT_MS);
  }

  importSnapshot(data: Readable, kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    if (kind === 'memory') return Promise.reject(new Unsupported(`${this.title} has no memory snapshots`));
    return this.engine.call('Importing the snapshot', options, TRANSFER_TIMEOUT_MS, (docker, signal) => loadSnapshot(this.engine, docker, data, signal)).finally(() => void data.destroy());
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private async start(image: string, spec: SandboxSpec, purpose: Purpose, options: OperationOptions | undefined): Promise<Sandbox> {
    const id = newId();
    // A list that is wrong is told before anything is made.
    listOf(spec.network);
    const { container, gate } = await this.startContainer(id, image, spec, purpose, options);
    const info: SandboxInfo = { id, provider: this.id, labels: spec.labels, createdAt: Date.now(), state: 'running' };
    const sandbox = new DockerSandbox(this.engine, container, gate, info, { ...spec, env: { ...proxyVariables(spec.network), ...spec.env } });
    try {
      await sandbox.ready();
      if (spec.resources.gpu) await this.engine.call('Looking for the GPU', options, GPU_TIMEOUT_MS, (_, signal) => verifyGpu(container, spec.resources.gpu!, signal));
      return sandbox;
    } catch (error) {
      await sandbox.terminate().catch((failure: Error) => this.context.log(`the sandbox ${id} could not be ended: ${failure.message}`));
      throw error;
    }
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
        const info = (await docker.info()) as { NCPU?: number; Driver?: string; Runtimes?: Runtimes };
        return { cpus: info.NCPU ?? Infinity, diskQuota: hasDiskQuota(info), runtimes: info.Runtimes ?? {} };
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
