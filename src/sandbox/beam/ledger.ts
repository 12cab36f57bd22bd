/**
 * Whose containers are whose. The service has no tags, and what it lists of a container is its own names of it and of its stub. A stub is made for each sandbox alone; only
 * what comes of a checkpoint is of the stub that this was taken of. So a note of each tells, as long as that lives; where there is none, of another folder or machine, the name
 * that was given to the stub tells (`name.ts`), if the container is the one that the stub was made for.
 */
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { SandboxInfo } from '../provider.js';
import { isOver, type Intent, type Intents } from '../remote/intents.js';
import { isLeftAlone } from '../remote/labels.js';
import type { Container, Gateway, Stub } from './gateway.js';
import { readName, type Named } from './name.js';

/** Stubs that are asked about at once. */
const LANES = 4;
/** From the making of a stub to its own container is one request. One that comes later may be of a checkpoint, which takes longer to be there. */
const FIRST_MS = 2000;

/** What a stub's name says, and when it was made, in milliseconds since the epoch. */
interface Maker extends Named {
  readonly madeAt: number;
}

interface Found {
  readonly info: SandboxInfo;
  readonly container: Container;
}

export class Ledger {
  /** By stub. What one was made as does not change; undefined is none of ours. */
  private makers: ReadonlyMap<string, Maker | undefined> = new Map();

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
      if (container) found.push({ id, provider: 'beam', labels, createdAt, state: stateOf(container) });
      else if (this.creating.has(id) || (labels.owner !== own && !isOver(note))) found.push({ id, provider: 'beam', labels, createdAt, state: 'starting' });
      else if (isOver(note)) await this.notes.settle(id);
    }
    return [...found, ...(await this.unnoted(notes, containers, signal)).map(({ info }) => info)];
  }

  /** Ends whatever there is of our id; tells whether there was anything. */
  async sweep(id: string, signal: AbortSignal): Promise<boolean> {
    const note = await this.notes.read(id);
    if (note && note.known === undefined) return false;
    const containers = await this.containers(signal);
    const found = !note
      ? (await this.unnoted(await this.notes.all(), containers, signal)).flatMap(({ info, container }) => (info.id === id ? [container] : []))
      : note.shared && note.there === undefined
        ? await this.unclaimed(note, containers)
        : containers.filter((each) => isOf(note, each));
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

  /** Of those that no note here is of, nor may be, those that their names give to us to judge. */
  private async unnoted(notes: readonly Intent[], containers: readonly Container[], signal: AbortSignal): Promise<Found[]> {
    const others = containers.filter((each) => !notes.some((note) => mayBeOf(note, each)));
    await this.ask(others, signal);
    const found: Found[] = [];
    for (const container of others) {
      const maker = this.makers.get(container.stubId);
      if (!maker || notes.some(({ id }) => id === maker.id) || !isFirst(container, maker.madeAt, containers)) continue;
      const { id, machine, labels, madeAt } = maker;
      if (!(await isLeftAlone(machine, labels.expires))) found.push({ container, info: { id, provider: 'beam', labels, createdAt: madeAt, state: stateOf(container) } });
    }
    return found;
  }

  /** A stub that the service does not tell of now is asked about the next time. */
  private async ask(containers: readonly Container[], signal: AbortSignal): Promise<void> {
    const stubs = [...new Map(containers.map((each) => [each.stubId, each])).values()];
    const makers = new Map(stubs.flatMap(({ stubId }) => (this.makers.has(stubId) ? [[stubId, this.makers.get(stubId)] as const] : [])));
    const asked = stubs.filter(({ stubId }) => !makers.has(stubId));
    const lane = async (): Promise<void> => {
      for (let each = asked.pop(); each; each = asked.pop()) {
        const { stubId } = each;
        await this.gateway.made(each, signal).then((stub) => makers.set(stubId, makerOf(stub)), () => signal.throwIfAborted());
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    this.makers = makers;
  }

  private async containers(signal: AbortSignal): Promise<Container[]> {
    return (await this.gateway.containers(signal)).filter(isThere);
  }
}

export const isThere = ({ status }: Container): boolean => status !== 'STOPPING' && status !== 'STOPPED';

const stateOf = ({ status }: Container): SandboxInfo['state'] => (status === 'RUNNING' ? 'running' : 'starting');

const mayBeOf = ({ known, there }: Intent, { containerId, stubId }: Container): boolean => (there === undefined ? stubId === known : containerId === there);

const isOf = (note: Intent, container: Container): boolean => !(note.shared && note.there === undefined) && mayBeOf(note, container);

function makerOf(stub: Stub | undefined): Maker | undefined {
  const named = readName(stub?.name);
  return named && { ...named, madeAt: Date.parse(String(stub?.created_at)) };
}

/** Whether it is the one that its stub was made for, and surely no copy of that one's memory. */
export function isFirst(container: Container, madeAt: number, all: readonly Container[]): boolean {
  const at = scheduled(container);
  return Math.abs(at - madeAt) <= FIRST_MS && all.every((each) => each.stubId !== container.stubId || each.containerId === container.containerId || scheduled(each) > at);
}

const scheduled = ({ scheduledAt }: Container): number => Date.parse(scheduledAt ?? '');
