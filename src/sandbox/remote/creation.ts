/**
 * Creates sandboxes: in the account's turn, with a note before, and with nothing left of what was given up or never answered. Not by a vendor's SDK:
 * what it knows of a refusal for its rate it keeps for itself, and the limiter that all creations share could not learn from it (`test/e2b/gaps.test.ts`).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import { SandboxError } from '../errors.js';
import type { SandboxLabels } from '../provider.js';
import { Refused } from './failures.js';
import type { Intents } from './intents.js';
import type { CreationLimiter, Place } from './limiter.js';

/** Waits before each look for what was not answered, in milliseconds, and before a last one that nobody waits for. */
const LOOKS = [0, 1000, 3000];
const LATE_LOOK_MS = 60_000;
const LOOK_TIMEOUT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;

export interface Creator {
  /** Ends whatever there is at the service of our id; tells whether there was anything. */
  readonly sweep: (id: string, signal: AbortSignal) => Promise<boolean>;
  readonly translate: (error: unknown, doing: string) => unknown;
  /** The note of one that is there is all that tells whose it is, so it stays. */
  readonly keepsNotes?: true;
}

export interface Created<T> {
  readonly answer: T;
  readonly place: Place;
}

export class Creation {
  /** Of creations that are not known to have come to nothing. */
  private readonly settling = new Set<Promise<void>>();

  constructor(
    private readonly creator: Creator,
    private readonly limiter: CreationLimiter,
    private readonly intents: Intents,
  ) {}

  /** Waits for its turn as long as a sandbox may live, since then one has ended. */
  create<T>(id: string, labels: SandboxLabels, ask: (signal: AbortSignal) => Promise<T>, outer: AbortSignal | undefined): Promise<Created<T>> {
    return within('Waiting for room for a sandbox', { signal: outer }, LONGEST_WAIT_MS, async (signal) => {
      let place = await this.limiter.enter(signal);
      let settled: Promise<void> | undefined;
      try {
        await this.intents.add(id, labels);
        for (;;) {
          await this.limiter.turn(signal);
          try {
            const answer = await ask(signal);
            place.accepted();
            if (!this.creator.keepsNotes) await this.intents.settle(id);
            return { place, answer };
          } catch (error) {
            if (error instanceof Refused && error.status === 429) {
              // Nothing was created.
              if (!/concurrent|maximum number/i.test(error.message)) this.limiter.tooFast(error.retryAfterMs);
              else {
                this.limiter.tooMany(error.retryAfterMs);
                place.release();
                place = await this.limiter.enter(signal);
              }
              continue;
            }
            const known = error instanceof SandboxError || (error instanceof Refused && error.status >= 400 && error.status < 500);
            if (!known) settled = this.settle(id, place);
            signal.throwIfAborted();
            throw this.creator.translate(error, 'Creating the sandbox');
          }
        }
      } catch (error) {
        // Its place is taken until it is known that nothing came of it.
        if (!settled) {
          await this.intents.settle(id);
          place.release();
        }
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.settling);
  }

  /** Ends what a creation may have made that was not answered. The note stays as long as something may still come. */
  private settle(id: string, place: Place): Promise<void> {
    const looking = (async () => {
      for (const wait of LOOKS) {
        await pause(wait);
        if (await this.creator.sweep(id, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => false)) {
          await this.intents.settle(id);
          return;
        }
      }
      setTimeout(() => void this.creator.sweep(id, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => undefined), LATE_LOOK_MS).unref();
    })().finally(() => {
      place.release();
      this.settling.delete(looking);
    });
    this.settling.add(looking);
    return looking;
  }
}
