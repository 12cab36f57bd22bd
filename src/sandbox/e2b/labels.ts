/** Who a sandbox belongs to, as its metadata, and back. Metadata are texts. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { SandboxInfo, SandboxLabels } from '../provider.js';

const PREFIX = 'rl-sandboxes.';
/** Our own name of a sandbox: it is there before the vendor's is, so that one whose creation was not answered can be found. */
export const ID = `${PREFIX}id`;
/** On all of ours, to ask for them. */
export const OURS: Readonly<Record<string, string>> = { [`${PREFIX}version`]: '1' };

export interface Listed {
  readonly metadata: Readonly<Record<string, string>>;
  readonly startedAt: Date;
  readonly state: string;
}

export async function metadataOf(id: string, labels: SandboxLabels): Promise<Record<string, string>> {
  const entries = Object.entries({ id, machine: await machine(), ...labels });
  return { ...OURS, ...Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[PREFIX + name, String(value)]]))) };
}

/**
 * Undefined if it is none of ours. An account is shared by machines, and only its own machine can tell whether an owner lives: those of others
 * are left alone until they have expired.
 */
export async function sandboxInfo({ metadata, startedAt, state }: Listed, now = Date.now()): Promise<SandboxInfo | undefined> {
  const get = (name: string): string | undefined => metadata[PREFIX + name] || undefined;
  const [id, owner, expires] = [get('id'), get('owner'), Number(get('expires') ?? 0)];
  if (id === undefined || owner === undefined || (get('machine') !== (await machine()) && expires > now)) return undefined;
  const episode = get('episode');
  const labels = { owner, run: get('run'), episode: episode === undefined ? undefined : Number(episode), template: get('template'), digest: get('digest'), snapshot: get('snapshot'), expires };
  return { id, provider: 'e2b', labels, createdAt: startedAt.getTime(), state: state === 'running' ? 'running' : 'exited' };
}

let known: Promise<string> | undefined;
/** Tells this machine from others, also after it was started anew; says nothing of it. */
function machine(): Promise<string> {
  return (known ??= readFile('/etc/machine-id', 'utf8')
    .catch(() => '')
    .then((text) => createHash('sha256').update(`rl-sandboxes\n${text.trim() || hostname()}`).digest('hex').slice(0, 16)));
}
