/** What is known of a copy of memory: the service's own name, and what a sandbox of it will be, which cannot be chosen any more. */
import { SandboxError } from '../errors.js';

export interface Checkpoint {
  readonly checkpointId: string;
  /** Of the sandbox that it was taken of, and of all that come of it. */
  readonly stubId: string;
  readonly network: 'none' | 'full';
}

/** All of it in one word. */
export const checkpointName = ({ checkpointId, stubId, network }: Checkpoint): string => [checkpointId, stubId, network].join('/');

/** @throws SandboxError for what is none */
export function readCheckpoint(name: string): Checkpoint {
  const [, checkpointId, stubId, network] = /^([^/]+)\/([^/]+)\/(none|full)$/.exec(name) ?? [];
  if (checkpointId === undefined) throw new SandboxError(`"${name.slice(0, 100)}" is no memory snapshot of Beam`);
  return { checkpointId, stubId: stubId!, network: network as Checkpoint['network'] };
}
