/** What `check` finds out about an engine. */
import type Docker from 'dockerode';
import { delimiter, join } from 'node:path';
import { access, constants } from 'node:fs/promises';
import type { Health, LimitMechanism, OperationOptions } from '../provider.js';
import { OperationTimeout } from '../errors.js';
import { WrongContext } from './contexts.js';
import { within } from '../deadline.js';
import type { Endpoint } from './endpoint.js';
import type { Connected, Engine } from './engine.js';
import type { EngineKind } from './kind.js';
import { reasonOf, unreachable } from './failures.js';
import { lackOfGvisor, type Runtimes } from './gvisor.js';

const CHECK_TIMEOUT_MS = 5000;
/** Docker 19.03, the first with GPUs. */
const OLDEST_API = '1.40';

/** Part of the answer of `/info` that the client's types leave out. */
interface Info {
  Driver?: string;
  DriverStatus?: [string, string][] | null;
  CgroupDriver?: string;
  CgroupVersion?: string;
  CpuCfsQuota?: boolean;
  MemoryLimit?: boolean;
  PidsLimit?: boolean;
  NCPU?: number;
  OSType?: string;
  OperatingSystem?: string;
  SecurityOptions?: string[] | null;
  Runtimes?: Runtimes;
}

export async function checkEngine(engine: Engine, options?: OperationOptions): Promise<Health> {
  let connected: Connected | undefined;
  try {
    return await within(`Asking the ${engine.kind.noun}`, { signal: options?.signal, timeoutMs: Math.min(options?.timeoutMs ?? CHECK_TIMEOUT_MS, CHECK_TIMEOUT_MS) }, CHECK_TIMEOUT_MS, async (signal) => {
      connected = await engine.connect();
      const { docker, endpoint } = connected;
      // The client's types know no signal here; the deadline holds all the same.
      const [version, info] = await Promise.all([docker.version(), docker.info() as Promise<Info>]);
      signal.throwIfAborted();
      return describe(endpoint, version, info);
    });
  } catch (error) {
    options?.signal?.throwIfAborted();
    engine.forget();
    return failure(error as Error, connected?.endpoint, engine.kind);
  }
}

async function failure(error: Error, endpoint: Endpoint | undefined, kind: EngineKind): Promise<Health> {
  if (error instanceof OperationTimeout) {
    return { ok: false, code: 'error', summary: `the ${kind.noun} at ${endpoint?.url ?? 'its socket'} (${endpoint?.why ?? 'not found yet'}) did not answer within ${error.timeoutMs / 1000} s`, hint: 'it may be starting or overloaded: try again, or restart it' };
  }
  if ('statusCode' in error) return { ok: false, code: 'error', summary: `the ${kind.noun} at ${endpoint?.url} answered: ${reasonOf(error)}`, hint: `look into the log of the ${kind.noun}` };
  const { summary, hint, code } = unreachable(error, endpoint, kind);
  const implicit = endpoint !== undefined && !kind.chosen.test(endpoint.why);
  if (code === 'not-running' && implicit && !(error instanceof WrongContext) && !(await isInstalled(kind.programs))) {
    return { ok: false, code: 'not-installed', summary: `${kind.title} is not installed`, hint: kind.advice.install };
  }
  return { ok: false, code, summary, hint };
}

/** Whether a client or an engine is on PATH. */
async function isInstalled(names: readonly string[]): Promise<boolean> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'].filter(Boolean);
  const found = await Promise.all(folders.flatMap((folder) => names.map((name) => access(join(folder, name), constants.X_OK).then(() => true, () => false))));
  return found.includes(true);
}

export function describe(endpoint: Endpoint, version: Docker.DockerVersion, info: Info): Health {
  const podman = (version.Components ?? []).some(({ Name }) => /podman/i.test(Name));
  const product = podman ? 'Podman' : 'Docker';
  const summary = `${product} ${version.Version} at ${endpoint.url}`;
  if (info.OSType === 'windows') return { ok: false, code: 'unsupported', summary: `${summary} runs Windows containers`, hint: 'switch Docker Desktop to Linux containers' };
  if (apiNumber(version.ApiVersion) < apiNumber(OLDEST_API)) return { ok: false, code: 'unsupported', summary: `${summary} is too old`, hint: 'install Docker 19.03 or newer' };
  const options = info.SecurityOptions ?? [];
  const rootless = options.some((option) => /name=rootless/.test(option));
  // Rootless without systemd and cgroup v2 has no control groups to limit with.
  const cgroups = info.CgroupDriver !== 'none';
  const limit = (available: boolean | undefined): LimitMechanism => (available && cgroups ? 'cgroup' : 'none');
  const quota = hasDiskQuota(info);
  const noGvisor = lackOfGvisor(info.Runtimes ?? {});
  return {
    ok: true,
    summary,
    limits: { cpu: limit(info.CpuCfsQuota), memory: limit(info.MemoryLimit), pids: limit(info.PidsLimit), disk: quota ? 'filesystem' : 'rlimit' },
    ...(noGvisor === undefined ? {} : { lacks: { gvisor: noGvisor } }),
    details: {
      endpoint: `${endpoint.url}, chosen by ${endpoint.why}`,
      engine: `${product} ${version.Version}, API ${version.ApiVersion}, ${info.OperatingSystem ?? version.Os}${rootless ? ', rootless' : ''}`,
      'control groups': cgroups ? `version ${info.CgroupVersion ?? '1'}, driver ${info.CgroupDriver ?? 'unknown'}` : 'none: limits are not enforced',
      storage: `${info.Driver ?? 'unknown'}${backing(info) ? ` on ${backing(info)}` : ''}`,
      disk: quota ? 'limited by the storage driver' : 'the storage driver has no quota: `disk` limits the size of each file, not their sum',
      seccomp: options.some((option) => /name=seccomp/.test(option)) ? 'on' : 'off',
      gpu: 'nvidia' in (info.Runtimes ?? {}) ? 'NVIDIA runtime registered' : 'no NVIDIA runtime registered',
      ...(podman ? {} : { gvisor: noGvisor ?? 'runtime registered, for `isolation: gvisor`' }),
    },
  };
}

const apiNumber = (text: string): number => text.split('.').reduce((sum, part, index) => sum + Number(part) / 1000 ** index, 0);

const backing = (info: Info): string | undefined => info.DriverStatus?.find(([name]) => name === 'Backing Filesystem')?.[1];

/** Whether `--storage-opt size=` can hold: by the driver itself, or by project quotas, which only xfs has and which its mount must have switched on. */
export const hasDiskQuota = (info: Info): boolean => ['btrfs', 'zfs'].includes(info.Driver ?? '');
