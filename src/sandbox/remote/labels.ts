/** What machines that share an account read of each other's sandboxes from what the service keeps of them. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

let known: Promise<string> | undefined;
/** 16 hexadecimal digits. Tells this machine from others, also after it was started anew; says nothing of it. */
export function machineHash(): Promise<string> {
  return (known ??= readFile('/etc/machine-id', 'utf8')
    .catch(() => '')
    .then((text) => createHash('sha256').update(`rl-sandboxes\n${text.trim() || hostname()}`).digest('hex').slice(0, 16)));
}

/** Only its own machine can tell whether an owner lives: a sandbox of another is left alone until it has expired, in milliseconds since the epoch. */
export async function isLeftAlone(machine: string | undefined, expires: number, now = Date.now()): Promise<boolean> {
  return machine !== (await machineHash()) && expires > now;
}
