/** What a sandbox uses: from its control groups where there are some, else from its processes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxStats } from '../provider.js';
import type { Group } from './cgroups.js';
import { descendants } from './processes.js';

/** Clock ticks of proc(5) in a second: 100 on every architecture that Node runs on. */
const TICKS = 100;
const PAGE = 4096;

export class Usage {
  /** Processor time of those who had the group before. */
  private before = 0;
  /** Never goes back, although processes that end take their time with them where it is summed over processes. */
  private cpuMs = 0;

  constructor(
    private readonly group: Group,
    private readonly gate: number,
    private readonly joined: () => readonly number[],
  ) {}

  async start(): Promise<void> {
    this.before = (await this.group.usage()).cpuMs ?? 0;
  }

  async stats(): Promise<SandboxStats> {
    const [fromGroup, fromProcesses] = await Promise.all([this.group.usage(), this.processes()]);
    const cpuMs = fromGroup.cpuMs === undefined ? fromProcesses.cpuMs : fromGroup.cpuMs - this.before;
    this.cpuMs = Math.max(this.cpuMs, cpuMs);
    return { cpuMs: this.cpuMs, memory: fromGroup.memory ?? fromProcesses.memory, pids: fromProcesses.pids };
  }

  private async processes(): Promise<SandboxStats> {
    const inside = await descendants(this.gate);
    const joined = (await Promise.all(this.joined().map(descendants))).flat();
    const pids = [...new Set([...inside, ...joined])];
    const each = await Promise.all(pids.map(processUsage));
    const sum = (of: (usage: { cpuMs: number; memory: number }) => number): number => each.reduce((total, usage) => total + of(usage), 0);
    return { cpuMs: sum(({ cpuMs }) => cpuMs), memory: sum(({ memory }) => memory), pids: pids.length };
  }
}

async function processUsage(pid: number): Promise<{ cpuMs: number; memory: number }> {
  const [stat, statm] = await Promise.all(['stat', 'statm'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')));
  const fields = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
  // Its own time and that of the children that it has waited for, in user and kernel mode.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + (Number(field) || 0), 0);
  return { cpuMs: (ticks * 1000) / TICKS, memory: (Number(statm!.split(' ')[1]) || 0) * PAGE };
}

/** Processor time and memory of a group, as far as its folders tell. */
export async function groupUsage(folders: readonly string[]): Promise<{ readonly cpuMs?: number; readonly memory?: number }> {
  const number = async (name: string, pattern: RegExp): Promise<number | undefined> => {
    for (const folder of folders) {
      const found = pattern.exec(await readFile(join(folder, name), 'latin1').catch(() => ''))?.[1];
      if (found !== undefined) return Number(found);
    }
    return undefined;
  };
  const [micro, nano, memory2, memory1] = await Promise.all([number('cpu.stat', /^usage_usec (\d+)/m), number('cpuacct.usage', /^(\d+)/), number('memory.current', /^(\d+)/), number('memory.usage_in_bytes', /^(\d+)/)]);
  return { cpuMs: micro !== undefined ? micro / 1000 : nano !== undefined ? nano / 1e6 : undefined, memory: memory2 ?? memory1 };
}
