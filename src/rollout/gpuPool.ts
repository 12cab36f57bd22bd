/** Hands the GPUs of this machine out to sandboxes: each to one at a time, or to as many as share it. */
import { LimitExceeded } from '../sandbox/errors.js';
import type { GpuDevice, GpuRequest } from '../sandbox/provider.js';
import type { Claims, GpuLedger } from './gpuLedger.js';

/** A request, and the devices to choose from. */
export interface GpuWish {
  readonly request: GpuRequest;
  readonly inventory: readonly GpuDevice[];
}

export interface GpuLease {
  /** Of each wish, in their order. */
  readonly devices: readonly (readonly GpuDevice[])[];
  /** Gives all back; once is enough. */
  release(): void;
}

interface Waiter {
  readonly wishes: readonly GpuWish[];
  /** Its place among those who wait; none before it has one among other processes too. */
  ticket: number | undefined;
  readonly grant: (devices: readonly (readonly GpuDevice[])[]) => void;
  readonly fail: (error: Error) => void;
}

/** Of one device that is in use: for how many at once each of its users has asked. */
type Uses = Map<string, number[]>;

interface Grant {
  readonly waiter: Waiter;
  readonly devices: readonly (readonly GpuDevice[])[];
}

/** How often one who waits looks for what other processes have given back. */
const LOOK_MS = 500;

const shareOf = ({ share = 1 }: GpuRequest): number => share;

/**
 * Those who wait are served in the order in which they came. One who cannot be served yet keeps what would serve him from those behind, so that a wish for many
 * devices is not passed over for ever; whoever needs none of these does not wait for him. With a ledger that holds for all processes that share it.
 */
export class GpuPool {
  private readonly uses: Uses = new Map();
  private readonly waiting: Waiter[] = [];
  private tickets = 0;
  private turn: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ledger?: GpuLedger) {}

  /**
   * All wishes at once, so that nobody holds one device and waits for another. Rejects with `LimitExceeded` if there are too few, with the signal's reason, or with
   * `SandboxError` if the ledger cannot be used.
   */
  async acquire(wishes: readonly GpuWish[], signal?: AbortSignal): Promise<GpuLease> {
    signal?.throwIfAborted();
    requireEnough(wishes);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        reject(signal!.reason as Error);
        this.serve();
      };
      const waiter: Waiter = {
        wishes,
        ticket: undefined,
        grant: (devices) => {
          signal?.removeEventListener('abort', abort);
          let held = true;
          const release = (): void => {
            if (!held) return;
            held = false;
            eachUse(wishes, devices, (id, share) => drop(this.uses, id, share));
            this.serve();
          };
          resolve({ devices, release });
        },
        fail: (error) => {
          signal?.removeEventListener('abort', abort);
          reject(error);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.waiting.push(waiter);
      this.serve();
    });
  }

  private serve(): void {
    const { ledger } = this;
    if (ledger) this.turn = this.turn.then(() => this.serveBeside(ledger));
    else this.give(this.plan([]));
  }

  private async serveBeside(ledger: GpuLedger): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.give(
        await ledger.update((others) => {
          const plan = this.plan(others);
          const uses = copied(this.uses);
          for (const { waiter, devices } of plan.grants) eachUse(waiter.wishes, devices, (id, share) => take(uses, id, share));
          const served = new Set(plan.grants.map(({ waiter }) => waiter));
          const waiting = this.waiting.filter((waiter) => !served.has(waiter)).map((waiter) => ({ ticket: plan.tickets.get(waiter)!, ids: idsOf(waiter) }));
          return { mine: { uses: Object.fromEntries(uses), waiting }, result: plan };
        }),
      );
    } catch (error) {
      for (const waiter of this.waiting.splice(0)) waiter.fail(error as Error);
    }
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.serve(), LOOK_MS);
  }

  /** Who can be served now beside what other processes use and wait for, and everybody's place. Changes nothing. */
  private plan(others: readonly Claims[]): { readonly grants: Grant[]; readonly tickets: ReadonlyMap<Waiter, number> } {
    const elsewhere = others.flatMap(({ waiting }) => waiting);
    let last = Math.max(this.tickets, ...elsewhere.map(({ ticket }) => ticket));
    const tickets = new Map(this.waiting.map((waiter) => [waiter, waiter.ticket ?? ++last]));
    const uses = copied(this.uses);
    for (const claims of others) for (const [id, shares] of Object.entries(claims.uses)) uses.set(id, [...(uses.get(id) ?? []), ...shares]);
    const reserved = new Set<string>();
    const grants: Grant[] = [];
    const queue = [...elsewhere.map(({ ticket, ids }) => ({ ticket, ids, waiter: undefined })), ...[...tickets].map(([waiter, ticket]) => ({ ticket, ids: idsOf(waiter), waiter }))];
    for (const { ids, waiter } of queue.sort((a, b) => a.ticket - b.ticket)) {
      const devices = waiter && choose(waiter.wishes, uses, reserved);
      if (devices) {
        eachUse(waiter.wishes, devices, (id, share) => take(uses, id, share));
        grants.push({ waiter, devices });
      } else for (const id of ids) reserved.add(id);
    }
    return { grants, tickets };
  }

  private give({ grants, tickets }: ReturnType<GpuPool['plan']>): void {
    for (const [waiter, ticket] of tickets) {
      waiter.ticket = ticket;
      this.tickets = Math.max(this.tickets, ticket);
    }
    for (const { waiter, devices } of grants) {
      const at = this.waiting.indexOf(waiter);
      // It may have been given up meanwhile; then the next turn, which that has asked for, says that it uses nothing.
      if (at < 0) continue;
      this.waiting.splice(at, 1);
      eachUse(waiter.wishes, devices, (id, share) => take(this.uses, id, share));
      waiter.grant(devices);
    }
  }
}

const copied = (uses: Uses): Uses => new Map([...uses].map(([id, shares]) => [id, [...shares]]));
const idsOf = ({ wishes }: Waiter): string[] => [...new Set(wishes.flatMap((wish) => candidates(wish).map(({ id }) => id)))];

/** @throws LimitExceeded where not even an idle machine has them all. */
export function requireEnough(wishes: readonly GpuWish[]): void {
  for (const wish of wishes) {
    const { request, inventory } = wish;
    const found = candidates(wish);
    const asked = request.ids ? `the GPUs ${request.ids.join(', ')} were asked for` : `${request.count === 'all' ? 'all GPUs were' : request.count === 1 ? 'a GPU was' : `${request.count} GPUs were`} asked for${request.model === undefined ? '' : ` of model ${request.model}`}`;
    const there = inventory.length === 0 ? 'this machine has none that nvidia-smi, CDI or rocm-smi tells of' : `this machine has ${inventory.map(({ names, model }) => `${names[0]}${model === undefined ? '' : ` (${model})`}`).join(', ')}`;
    if (found.length < neededOf(wish)) throw new LimitExceeded(`${asked}, and ${there}`);
  }
  if (wishes.length > 1 && choose(wishes, new Map(), new Set()) === undefined) throw new LimitExceeded('an episode and the sandboxes of its rewards use more GPUs at the same time than this machine has; let them `share`, or take fewer');
}

function candidates({ request: { ids, model }, inventory }: GpuWish): readonly GpuDevice[] {
  if (ids) return inventory.filter(({ names }) => ids.some((id) => names.includes(id)));
  return model === undefined ? inventory : inventory.filter((device) => device.model?.toLowerCase().includes(model.toLowerCase()));
}

/** At least one, also where all are asked for. */
function neededOf(wish: GpuWish): number {
  const { ids, count } = wish.request;
  return ids?.length ?? (count === 'all' ? Math.max(1, candidates(wish).length) : count);
}

/** Devices for all wishes, those with the fewest users first; undefined if there are not enough. */
function choose(wishes: readonly GpuWish[], uses: Uses, reserved: ReadonlySet<string>): GpuDevice[][] | undefined {
  const planned = copied(uses);
  // The choosiest first: what is left is left for those who take anything.
  const order = wishes.map((wish, index) => ({ wish, index })).sort((a, b) => candidates(a.wish).length - candidates(b.wish).length);
  const chosen: GpuDevice[][] = [];
  for (const { wish, index } of order) {
    const share = shareOf(wish.request);
    const usersOf = (id: string): number[] => planned.get(id) ?? [];
    const free = candidates(wish)
      .filter(({ id }) => !reserved.has(id) && usersOf(id).length < Math.min(share, ...usersOf(id)))
      .sort((a, b) => usersOf(a.id).length - usersOf(b.id).length);
    const needed = neededOf(wish);
    if (free.length < needed) return undefined;
    chosen[index] = free.slice(0, needed);
    for (const { id } of chosen[index]) take(planned, id, share);
  }
  return chosen;
}

function eachUse(wishes: readonly GpuWish[], devices: readonly (readonly GpuDevice[])[], work: (id: string, share: number) => void): void {
  devices.forEach((some, index) => some.forEach(({ id }) => work(id, shareOf(wishes[index]!.request))));
}

const take = (uses: Uses, id: string, share: number): unknown => uses.set(id, [...(uses.get(id) ?? []), share]);

function drop(uses: Uses, id: string, share: number): void {
  const left = [...(uses.get(id) ?? [])];
  left.splice(left.indexOf(share), 1);
  if (left.length > 0) uses.set(id, left);
  else uses.delete(id);
}
