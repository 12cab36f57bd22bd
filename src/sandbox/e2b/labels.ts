/** Who a sandbox belongs to, as its metadata, and back. Metadata are texts. */
import type { SandboxInfo, SandboxLabels } from '../provider.js';
import { isLeftAlone, machineHash } from '../remote/labels.js';

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
  const entries = Object.entries({ id, machine: await machineHash(), ...labels });
  return { ...OURS, ...Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[PREFIX + name, String(value)]]))) };
}

/** Undefined if it is none of ours, or to be left alone. */
export async function sandboxInfo({ metadata, startedAt, state }: Listed, now?: number): Promise<SandboxInfo | undefined> {
  const get = (name: string): string | undefined => metadata[PREFIX + name] || undefined;
  const [id, owner, expires] = [get('id'), get('owner'), Number(get('expires') ?? 0)];
  if (id === undefined || owner === undefined || (await isLeftAlone(get('machine'), expires, now))) return undefined;
  const episode = get('episode');
  const labels = { owner, run: get('run'), episode: episode === undefined ? undefined : Number(episode), template: get('template'), digest: get('digest'), snapshot: get('snapshot'), expires };
  return { id, provider: 'e2b', labels, createdAt: startedAt.getTime(), state: state === 'running' ? 'running' : 'exited' };
}
