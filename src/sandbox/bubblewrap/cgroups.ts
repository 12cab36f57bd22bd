/** Control groups for sandboxes, used again by the next sandbox with the same limits: making one costs more than a sandbox's own start. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnFailure } from '../command.js';
import { SandboxError } from '../errors.js';
import { findHierarchies, removeGroup, type Controller, type Hierarchy } from './cgroupTree.js';
import type { Limits } from './limits.js';
import { groupUsage } from './stats.js';

const PERIOD_US = 100_000;
/** Groups kept for other limits than those just asked for. */
const MOST_IDLE = 256;

/** Of groups that this process has made: two never have the same name. */
let number = 0;

/** The groups of one sandbox, one in each hierarchy that limits something. */
export interface Group {
  readonly key: string;
  /** A process joins by writing its pid to each of these. */
  readonly procs: readonly string[];
  /** How many processes the memory limit has killed in it so far. */
  oomKills(): Promise<number>;
  /** What its processes have used and use, since it was made; absent where no group tells. */
  usage(): Promise<{ readonly cpuMs?: number; readonly memory?: number }>;
  readonly folders: readonly string[];
}

export class Cgroups {
  private readonly idle = new Map<string, Group[]>();
  private idleCount = 0;

  private constructor(
    readonly hierarchies: readonly Hierarchy[],
    private readonly owner: string,
  ) {}

  static async find(sh: string, owner: string): Promise<Cgroups> {
    return new Cgroups(await findHierarchies(sh), owner.replaceAll(':', '_'));
  }

  /** Whether a limit of this kind can be kept. */
  has(controller: Controller): boolean {
    return this.hierarchies.some((hierarchy) => hierarchy.controllers.includes(controller));
  }

  async acquire(limits: Limits): Promise<Group> {
    const key = `${limits.cpu ?? ''}/${limits.memory ?? ''}/${limits.pids}`;
    const ready = this.idle.get(key)?.pop();
    if (ready) {
      this.idleCount--;
      return ready;
    }
    return this.make(key, limits).catch((error: unknown) => {
      throw spawnFailure(error);
    });
  }

  /** Gives a group back when no process is left in it. */
  release(group: Group): void {
    if (this.idleCount >= MOST_IDLE) return void remove(group);
    this.idleCount++;
    const same = this.idle.get(group.key);
    if (same) same.push(group);
    else this.idle.set(group.key, [group]);
  }

  async close(): Promise<void> {
    const groups = [...this.idle.values()].flat();
    this.idle.clear();
    this.idleCount = 0;
    await Promise.all(groups.map(remove));
    for (const { folder } of this.hierarchies) await rmdir(folder).catch(() => undefined);
  }

  private async make(key: string, limits: Limits): Promise<Group> {
    const name = `${this.owner}.${++number}`;
    const folders: string[] = [];
    let memory: string | undefined;
    for (const { version, folder, controllers } of this.hierarchies) {
      const wanted = controllers.filter((controller) => limits[controller] !== undefined);
      if (wanted.length === 0) continue;
      const path = join(folder, name);
      // Another process that ended may just have taken the empty parent away.
      await mkdir(path, { recursive: true });
      folders.push(path);
      for (const controller of wanted) for (const [file, value] of settings(version, controller, limits[controller]!)) await set(join(path, file), value);
      if (wanted.includes('memory')) memory = join(path, version === 2 ? 'memory.events' : 'memory.oom_control');
    }
    return { key, folders, procs: folders.map((path) => join(path, 'cgroup.procs')), oomKills: () => (memory === undefined ? Promise.resolve(0) : oomKills(memory)), usage: () => groupUsage(folders) };
  }
}

type Setting = readonly [file: string, value: string];

function settings(version: 1 | 2, controller: Controller, limit: number): Setting[] {
  const whole = String(Math.floor(limit));
  const quota = String(Math.max(1000, Math.round(limit * PERIOD_US)));
  switch (controller) {
    case 'pids':
      return [['pids.max', whole]];
    case 'cpu':
      return version === 2 ? [['cpu.max', `${quota} ${PERIOD_US}`]] : [['cpu.cfs_period_us', String(PERIOD_US)], ['cpu.cfs_quota_us', quota]];
    case 'memory':
      // Without swap, or the limit would only make the sandbox slow. Where swap is not accounted there is no such file.
      return version === 2 ? [['memory.max', whole], ['?memory.swap.max', '0']] : [['memory.limit_in_bytes', whole], ['?memory.memsw.limit_in_bytes', whole]];
  }
}

/** Writes a setting; one whose name begins with `?` may be missing. */
async function set(path: string, value: string): Promise<void> {
  const optional = path.includes('/?');
  try {
    await writeFile(path.replace('/?', '/'), value);
  } catch (error) {
    if (!optional) throw new SandboxError(`the limit ${path} cannot be set to ${value}: ${(error as Error).message}`, { cause: error });
  }
}

async function oomKills(file: string): Promise<number> {
  const text = await readFile(file, 'latin1').catch(() => '');
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

const remove = async ({ folders }: Group): Promise<void> => void (await Promise.all(folders.map(removeGroup)));
