/**
 * How many sandboxes may live, and how fast they may be created: what a vendor allows an account, and less for as long as it says so. First the
 * place, then the token: the other way round those who wait for a place would all create at once when places come free.
 */
import type { Waits } from '../provider.js';

export interface Allowance {
  /** Creations. */
  readonly perSecond: number;
  /** Sandboxes that live. */
  readonly concurrent: number;
}

const SLOWEST_PER_SECOND = 0.1;
/** Waiting after a refusal that says no time, at first and at most. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** By how much the rate grows back with every creation that is not refused. */
const RECOVERY = 1.1;
/** How long fewer sandboxes are asked for after the vendor has had no room, before it is tried with one more. */
const ROOM_RECOVERY_MS = 30_000;

export interface Place {
  /** There is a sandbox at it. */
  readonly accepted: () => void;
  /** Gives it back; more than once is the same. */
  readonly release: () => void;
}

export class CreationLimiter {
  private rate: number;
  private room: number;
  private taken = 0;
  /** Places at which there is a sandbox. */
  private living = 0;
  private nextAt = 0;
  private refusals = 0;
  private pausedUntil = 0;
  private fullSince = -Infinity;
  private readonly waiting = new Set<() => void>();
  /** Creations that have a place and wait for their moment. */
  private turns = 0;

  constructor(readonly allowance: Allowance) {
    this.rate = allowance.perSecond;
    this.room = allowance.concurrent;
  }

  /** A place for one sandbox, first come, first served. Rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    if (this.taken >= this.room || this.waiting.size > 0) await this.inLine(signal);
    this.taken += 1;
    let state: 'taken' | 'living' | 'free' = 'taken';
    return {
      accepted: () => {
        if (state !== 'taken') return;
        state = 'living';
        this.living += 1;
        this.recover();
      },
      release: () => {
        if (state === 'free') return;
        if (state === 'living') this.living -= 1;
        state = 'free';
        this.taken -= 1;
        this.admit();
      },
    };
  }

  /** Waits for the moment at which one creation may be asked for. Rejects with the signal's reason. */
  async turn(signal: AbortSignal): Promise<void> {
    const interval = 1000 / this.rate;
    const now = Date.now();
    const at = Math.max(now, this.nextAt);
    this.nextAt = at + interval;
    // A little late each, so that several processes with the same account do not fall into step.
    const delay = at - now + (at > now ? Math.random() * interval * 0.1 : 0);
    if (delay <= 0) return;
    this.turns += 1;
    await wait(delay, signal).finally(() => (this.turns -= 1));
  }

  /** What holds creations up, while it does. */
  waits(): Waits | undefined {
    const creations = this.waiting.size + this.turns;
    const refused = this.room < this.allowance.concurrent || this.rate < this.allowance.perSecond;
    return creations === 0 ? undefined : { creations, places: this.room, perSecond: this.rate, refused };
  }

  /** The vendor has said "too fast": all creations wait as long as it says, and are slower from then on. */
  tooFast(retryAfterMs: number | undefined, now = Date.now()): void {
    // Of those that were asked for at once, only the first is news.
    if (now >= this.pausedUntil) this.rate = Math.max(SLOWEST_PER_SECOND, this.rate / 2);
    this.pause(retryAfterMs, now);
  }

  /** The vendor has said "too many": there is no more room than for those that live, here or in other processes, until one ends. Who asked gives its place back. */
  tooMany(retryAfterMs: number | undefined, now = Date.now()): void {
    this.room = Math.max(1, this.living);
    this.fullSince = now;
    if (this.living === 0 || retryAfterMs !== undefined) this.pause(retryAfterMs, now);
  }

  private pause(retryAfterMs: number | undefined, now: number): void {
    if (retryAfterMs === undefined && now < this.pausedUntil) return;
    const wait = retryAfterMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.refusals++);
    this.pausedUntil = Math.max(this.pausedUntil, now + wait);
    this.nextAt = Math.max(this.nextAt, this.pausedUntil);
  }

  private recover(now = Date.now()): void {
    this.refusals = 0;
    this.rate = Math.min(this.allowance.perSecond, this.rate * RECOVERY);
    if (now - this.fullSince > ROOM_RECOVERY_MS) {
      this.room = Math.min(this.allowance.concurrent, this.room + 1);
      this.admit();
    }
  }

  private inLine(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', abort);
        this.waiting.delete(go);
        resolve();
      };
      const abort = (): void => {
        this.waiting.delete(go);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.add(go);
    });
  }

  /** One at a time: who is let in counts itself before the next is looked for. */
  private admit(): void {
    const [next] = this.waiting;
    if (!next || this.taken >= this.room) return;
    next();
    queueMicrotask(() => queueMicrotask(() => this.admit()));
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
