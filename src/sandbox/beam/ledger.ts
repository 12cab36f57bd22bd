/**
 * Whose containers are whose. The service has no tags, and what it lists of a container is its own names of it and of its stub. A stub is made for each sandbox alone; only
 * what comes of a checkpoint is of the stub that this was taken of. So a note of each tells, as long as that lives.
 */
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { SandboxInfo } from '../provider.js';
import { isOver, type Intent, type Intents } from '../remote/intents.js';
import type { Container, Gateway } from './gateway.js';

export class Ledger {
  constructor(
    private readonly notes: Intents,
    private readonly gateway: Gateway,
    /** Of this process, those whose creation is under way. */
    private readonly creating: ReadonlySet<string>,
  ) {}

  async list(signal: AbortSignal): Promise<SandboxInfo[]> {
    const own = await currentOwner();
    // Notes first: one that is added after it has its container later.
    const notes = await this.notes.all();
    const containers = await this.containers(signal);
    const found: SandboxInfo[] = [];
    for (const note of notes) {
      const { id, labels, at: createdAt } = note;
      const container = containers.find((each) => isOf(note, each));
      if (container) found.push({ id, provider: 'beam', labels, createdAt, state: container.status === 'RUNNING' ? 'running' : 'starting' });
      else if (this.creating.has(id) || (labels.owner !== own && !isOver(note))) found.push({ id, provider: 'beam', labels, createdAt, state: 'starting' });
      else if (isOver(note)) await this.notes.settle(id);
    }
    return found;
  }

  /** Ends whatever there is of our id; tells whether there was anything. */
  async sweep(id: string, signal: AbortSignal): Promise<boolean> {
    const note = await this.notes.read(id);
    if (note?.known === undefined) return false;
    const containers = await this.containers(signal);
    const found = note.shared && note.there === undefined ? await this.unclaimed(note, containers) : containers.filter((each) => isOf(note, each));
    await Promise.all(found.map(({ containerId }) => this.gateway.stop(containerId, signal)));
    return found.length > 0;
  }

  /** What came of a checkpoint and is nobody's, once it cannot be somebody's who has no answer yet. Notes are read after the containers: each is there before its container. */
  private async unclaimed(note: Intent, containers: readonly Container[]): Promise<Container[]> {
    const others = (await this.notes.all()).filter(({ id, known }) => id !== note.id && known === note.known);
    const own = await currentOwner();
    for (const { id, there, labels } of others) if (there === undefined && (labels.owner === own ? this.creating.has(id) : await isOwnerAlive(labels.owner))) return [];
    return containers.filter(({ containerId, stubId }) => stubId === note.known && !others.some(({ there }) => there === containerId));
  }

  private async containers(signal: AbortSignal): Promise<Container[]> {
    return (await this.gateway.containers(signal)).filter(isThere);
  }
}

export const isThere = ({ status }: Container): boolean => status !== 'STOPPING' && status !== 'STOPPED';

const isOf = ({ known, there, shared }: Intent, { containerId, stubId }: Container): boolean => (there === undefined ? !shared && stubId === known : containerId === there);
