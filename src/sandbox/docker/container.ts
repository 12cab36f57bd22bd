/** How a sandbox's container is made: its configuration, and a creation that leaves nothing behind when it fails or is aborted. */
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import type { NetworkPolicy, OperationOptions, Resources, SandboxSpec } from '../provider.js';
import { within } from '../deadline.js';
import type { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import { Gate } from './gate.js';
import { gpuOptions } from './gpu.js';
import { OWN_PIDS as GVISOR_PIDS, RUNTIME, type Runtimes } from './gvisor.js';
import { containerLabels, containerName } from './labels.js';
import { GATE } from './shell.js';
import { writableFolders } from '../writable.js';

/** `setup` has what a package manager needs, as root; `episode` has nothing, as the image's user. */
export type Purpose = 'setup' | 'episode';

export const DEFAULT_PIDS = 1024;
/** Processes of our own: the first one, the timer and its sleep, the watcher; where hosts are allowed, the relay to the proxy and its shell. */
const ownPids = (network: NetworkPolicy): number => (typeof network === 'string' ? 4 : 6);
export const pidsLimit = (pids: number | undefined, network: NetworkPolicy, more = 0): number => (pids ?? DEFAULT_PIDS) + ownPids(network) + more;
const DEFAULT_SHM_BYTES = 1 << 30;

const SETUP_CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'SETFCAP', 'KILL', 'SYS_CHROOT', 'AUDIT_WRITE'];

const CREATE_TIMEOUT_MS = 120_000;
const REMOVE_TIMEOUT_MS = 60_000;
/** How long a creation that was given up is waited for, so that what it made can be removed. */
const SETTLE_TIMEOUT_MS = 5000;

export interface HostTraits {
  readonly cpus: number;
  /** Whether the storage driver limits what a container may write. */
  readonly diskQuota: boolean;
  readonly runtimes: Runtimes;
  /** Whether the engine has checkpoints, which are one of its experimental features. */
  readonly checkpoints: boolean;
}

export const newId = (): string => randomBytes(8).toString('hex');

export interface ImageTraits {
  /** Whether the image's own user is root. */
  readonly root: boolean;
  readonly workdir: string;
}

export function containerOptions(id: string, image: string, traits: ImageTraits, spec: SandboxSpec, purpose: Purpose, host: HostTraits): Docker.ContainerCreateOptions {
  const setup = purpose === 'setup';
  const offline = spec.network !== 'full';
  const gvisor = spec.isolation === 'gvisor';
  const suspendable = spec.suspendable === true && host.checkpoints;
  // As volumes, which the engine fills with what the image has there, and removes with the container.
  const folders = writableFolders(spec, traits.workdir);
  return {
    name: containerName(id),
    Image: image,
    Hostname: 'sandbox',
    // As Docker's command line writes "none": the image's own does not count.
    Entrypoint: [''],
    Cmd: ['/bin/sh', '-c', GATE, 'sh', String(Math.ceil(spec.lifetimeMs / 1000))],
    ...(setup ? { User: '0' } : spec.user === undefined ? {} : { User: spec.user }),
    ...(folders ? { Volumes: Object.fromEntries(folders.map((folder) => [folder, {}])) } : {}),
    ...(spec.workdir === undefined ? {} : { WorkingDir: spec.workdir }),
    Labels: containerLabels(id, spec.labels),
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    StopSignal: 'SIGKILL',
    Healthcheck: { Test: ['NONE'] },
    // With networking off altogether the engine does not start a copy of itself inside each container to set none up, which is most of what a start
    // costs. Then it also makes no /etc/hosts; the gate does, where it is root. Resumed, such a container has no loopback interface.
    ...(offline && !suspendable && (setup || (traits.root && spec.user === undefined && !folders && !gvisor)) ? { NetworkDisabled: true } : {}),
    HostConfig: {
      // Whatever else ends a container, its being suspended must not remove it.
      AutoRemove: !suspendable,
      NetworkMode: offline ? 'none' : 'bridge',
      CapDrop: ['ALL'],
      CapAdd: setup ? SETUP_CAPABILITIES : [],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none', Config: {} },
      Init: false,
      ...(gvisor ? { Runtime: RUNTIME } : {}),
      ...(folders ? { ReadonlyRootfs: true } : {}),
      ...limits(spec.resources, purpose, host, pidsLimit(spec.resources.pids, spec.network, gvisor ? GVISOR_PIDS : 0)),
    },
  };
}

function limits({ cpu, memory, disk, gpu }: Resources, purpose: Purpose, host: HostTraits, pids: number): Docker.HostConfig {
  return {
    PidsLimit: pids,
    // More cores than there are is no limit, and the engine refuses the number.
    ...(cpu !== undefined && cpu < host.cpus ? { NanoCpus: Math.max(1e7, Math.round(cpu * 1e9)) } : {}),
    ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
    // It counts as memory; the engine's own 64 MB are too few for programs that share arrays between processes.
    ShmSize: Math.min(memory ?? DEFAULT_SHM_BYTES, DEFAULT_SHM_BYTES),
    ...(disk === undefined ? {} : host.diskQuota ? { StorageOpt: { size: String(disk) } } : purpose === 'episode' ? { Ulimits: [{ Name: 'fsize', Soft: disk, Hard: disk }] } : {}),
    ...(gpu === undefined ? {} : gpuOptions(gpu)),
  };
}

export interface Started {
  readonly container: Docker.Container;
  readonly gate: Gate;
}

/** Creates, attaches and starts. When it fails, also by abort or deadline, the container is removed before this rejects. */
export function startContainer(engine: Engine, options: Docker.ContainerCreateOptions, operation?: OperationOptions): Promise<Started> {
  const create = async (docker: Docker): Promise<Docker.Container> => {
    const { endpoint } = await engine.connect();
    return docker.createContainer(await engine.kind.adapt(options, endpoint));
  };
  return bringUp(engine, options.name!, create, (container, signal) => container.start({ abortSignal: signal }) as Promise<unknown>, operation);
}

/** Makes a container by that name, attaches to it and has it begin. When it fails, also by abort or deadline, it is removed before this rejects. */
export async function bringUp(
  engine: Engine,
  name: string,
  create: (docker: Docker) => Promise<Docker.Container>,
  begin: (container: Docker.Container, signal: AbortSignal, gate: Gate) => Promise<unknown>,
  operation?: OperationOptions,
): Promise<Started> {
  let creation: Promise<Docker.Container> | undefined;
  let gate: Gate | undefined;
  try {
    return await engine.call('Starting a sandbox', operation, CREATE_TIMEOUT_MS, async (docker, signal) => {
      // Not bound to the signal: a request that is cut may have been heard, and would make its container after the clean-up.
      creation = create(docker);
      const container = await creation;
      signal.throwIfAborted();
      gate = await Gate.attach(container, signal);
      await begin(container, signal, gate);
      signal.throwIfAborted();
      return { container, gate };
    });
  } catch (error) {
    gate?.destroy();
    if (creation) await discard(engine, name, creation);
    throw error;
  }
}

/** Removes what a creation that failed has made or will make: also one whose connection broke may have been heard. */
async function discard(engine: Engine, name: string, creation: Promise<Docker.Container>): Promise<void> {
  const remove = (): Promise<void> => removeContainer(engine, name).catch(() => undefined);
  const settled = creation.then(() => undefined, () => undefined);
  const late = await within('Waiting for a creation', undefined, SETTLE_TIMEOUT_MS, () => settled).then(() => false, () => true);
  if (late) void settled.then(remove);
  else await remove();
}

/** Removes a container with its anonymous volumes. Resolves when nothing of it is left; what is not there is a success. */
export async function removeContainer(engine: Engine, name: string, operation?: OperationOptions): Promise<void> {
  await engine.call('Ending a sandbox', operation, REMOVE_TIMEOUT_MS, async (docker, signal) => {
    const container = docker.getContainer(name);
    for (;;) {
      try {
        await container.remove({ force: true, v: true, abortSignal: signal } as Docker.ContainerRemoveOptions);
        return;
      } catch (error) {
        if (statusOf(error) === 404) return;
        // It is being removed already: its own end did that.
        if (statusOf(error) !== 409 && !/device or resource busy|did not receive an exit event/.test(reasonOf(error))) throw error;
      }
      await container.wait({ condition: 'removed', abortSignal: signal }).catch((error: unknown) => {
        if (statusOf(error) === undefined) throw error;
      });
      signal.throwIfAborted();
    }
  });
}
