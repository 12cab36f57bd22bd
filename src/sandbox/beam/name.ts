/** Whose a sandbox is, as the name of its stub: all that the service keeps of it for other machines to read. And back. */
import type { SandboxLabels } from '../provider.js';
import { machineHash } from '../remote/labels.js';

export interface Named {
  readonly id: string;
  /** By its hash. */
  readonly machine: string;
  readonly labels: SandboxLabels;
}

/** With all else it stays below the 255 characters that the service's database has for a name. */
const LONGEST_RUN = 80;
const LONGEST_OWNER = 80;

/** Run and episode first, for people; last what has one length, so that no name that was cut is one. */
const FORM = new RegExp(
  `^rl-sandboxes\\.([A-Za-z0-9-]{0,${LONGEST_RUN}})\\.(\\d{0,9})\\.([0-9a-f]{16})\\.(\\d{1,16})\\.(?=[^.]{1,${LONGEST_OWNER}}\\.)(\\d+_[0-9-]+_[A-Za-z0-9-]+)\\.([0-9a-f]{16})$`,
);

export async function nameOf(id: string, { run = '', episode, owner, expires }: SandboxLabels): Promise<string> {
  const readable = run.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, LONGEST_RUN);
  return ['rl-sandboxes', readable, episode ?? '', await machineHash(), Math.ceil(expires), owner.replaceAll(':', '_'), id].join('.');
}

/** Undefined if it is not whole, or none of ours. Anyone may have written it. */
export function readName(name: unknown): Named | undefined {
  const [, run, episode, machine, expires, owner, id] = (typeof name === 'string' && FORM.exec(name)) || [];
  if (id === undefined) return undefined;
  const labels = { owner: owner!.replaceAll('_', ':'), ...(run && { run }), ...(episode && { episode: Number(episode) }), expires: Number(expires) };
  return { id, machine: machine!, labels };
}
