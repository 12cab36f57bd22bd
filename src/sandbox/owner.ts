/**
 * Who owns a sandbox, so that any later process can tell whether the owner is still there. A pid alone is not enough: pids are used
 * again, and after a reboot they all are. So an owner is `pid:start-time:boot-id`.
 */
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';

/** Stands for "unknown" in an owner's parts, on systems without /proc. */
const UNKNOWN = '-';

/** `pid:start-time:boot-id` of this process. The start time is in clock ticks since boot (`proc(5)`, field 22 of `stat`). */
export async function currentOwner(): Promise<string> {
  return [process.pid, (await startTime(process.pid)) ?? UNKNOWN, await bootId()].join(':');
}

/** Whether the process that an owner names is still the same living process. A malformed owner is dead. */
export async function isOwnerAlive(owner: string): Promise<boolean> {
  const [pidText, start, boot] = owner.split(':');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0 || start === undefined || boot === undefined) return false;
  if (boot !== (await bootId()) || !exists(pid)) return false;
  return start === UNKNOWN || start === (await startTime(pid));
}

/** Clock ticks between boot and the start of a process; `undefined` if there is no such process or no /proc. A zombie has ended. */
export async function startTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything, parentheses and spaces included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

let boot: Promise<string> | undefined;
/** Identity of this boot. Without /proc it is the minute of the boot, which is the same for all processes until the clock is set. */
function bootId(): Promise<string> {
  return (boot ??= readFile('/proc/sys/kernel/random/boot_id', 'latin1').then(
    (text) => text.trim(),
    () => `boot${Math.round((Date.now() / 1000 - uptime()) / 60)}`,
  ));
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
