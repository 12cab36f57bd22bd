/** Processor time of processes, from `/proc`: what a piece of work costs, whatever else the machine does meanwhile. */
import { readFile, readdir } from 'node:fs/promises';

/** `sysconf(_SC_CLK_TCK)`, which is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** Of all that descend from a process and live, with what their ended children took, ms. */
export async function processorTime(root: number): Promise<number> {
  const children = new Map<number, number[]>();
  const times = new Map<number, number>();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The fields after the name in parentheses: state, parent, ...; from the 12th on the times of the process and of its children.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ').map(Number);
    if (!line) continue;
    times.set(pid, fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS);
    children.set(fields[1]!, [...(children.get(fields[1]!) ?? []), pid]);
  }
  const below = (pid: number): number => (children.get(pid) ?? []).reduce((sum, child) => sum + times.get(child)! + below(child), 0);
  return below(root);
}
