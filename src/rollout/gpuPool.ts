/** Hands the GPUs of this machine out to the sandboxes of this process: each to one at a time, or to as many as share it. */
import { LimitExceeded } from '../sandbox/errors.js';
import type { GpuDevice, GpuRequest } from '../sandbox/provider.js';

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
  readonly grant: (devices: readonly (readonly GpuDevice[])[]) => void;
}

/** Of one device that is in use: for how many at once each of its users has asked. */
type Uses = Map<string, number[]>;

const shareOf = ({ share = 1 }: GpuRequest): number => share;

/**
 * Those who wait are served in the order in which they came. One who cannot be served yet keeps what would serve him from those behind, so that a wish for many
 * devices is not passed over for ever; whoever needs none of these does not wait for him.
 */
export class GpuPool {
  private readonly uses: Uses = new Map();
  private readonly waiting: Waiter[] = [];

  /** All wishes at once, so that nobody holds one device and waits for another. Rejects with `LimitExceeded` if there are too few, or with the signal's reason. */
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
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.waiting.push(waiter);
      this.serve();
    });
  }

  private serve(): void {
    const reserved = new Set<string>();
    for (const waiter of [...this.waiting]) {
      const devices = choose(waiter.wishes, this.uses, reserved);
      if (devices === undefined) {
        for (const wish of waiter.wishes) for (const { id } of candidates(wish)) reserved.add(id);
        continue;
      }
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
      eachUse(waiter.wishes, devices, (id, share) => take(this.uses, id, share));
      waiter.grant(devices);
    }
  }
}

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
  const planned: Uses = new Map([...uses].map(([id, shares]) => [id, [...shares]]));
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
