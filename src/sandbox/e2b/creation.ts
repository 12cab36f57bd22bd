/**
 * Creates sandboxes: in the account's turn, with a note before, and with nothing left of what was given up or never answered.
 *
 * Not by the vendor's SDK: of a refusal for its rate that keeps the time only for itself and waits in the place of one creation, and the limiter
 * that all of them share could not learn from it (`test/e2b/gaps.test.ts`).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import type { SandboxSpec } from '../provider.js';
import type { Account } from './account.js';
import type { Control } from './control.js';
import type { Reach } from './envd.js';
import { Refused, translate } from './failures.js';
import type { Intents } from './intents.js';
import { metadataOf } from './labels.js';
import type { CreationLimiter, Place } from './limiter.js';
import { ask } from './wire.js';

const DAEMON_PORT = 49983;
const ANSWER_MS = 60_000;
/** Waits before each look for what was not answered, in milliseconds, and before a last one that nobody waits for. */
const LOOKS = [0, 1000, 3000];
const LATE_LOOK_MS = 60_000;
const LOOK_TIMEOUT_MS = 60_000;
const LONGEST_LIFE_S = 3600;

/** What the service answers. */
interface Answer {
  readonly sandboxID: string;
  readonly envdAccessToken?: string | null;
  readonly domain?: string | null;
}

export interface Created {
  readonly reach: Reach;
  readonly place: Place;
}

export class Creation {
  /** Of creations that are not known to have come to nothing. */
  private readonly settling = new Set<Promise<void>>();

  constructor(
    private readonly account: Account,
    private readonly control: Control,
    private readonly limiter: CreationLimiter,
    private readonly intents: Intents,
  ) {}

  /** Waits for its turn as long as a sandbox may live, since then one has ended. */
  create(id: string, template: string, spec: SandboxSpec, outer: AbortSignal | undefined): Promise<Created> {
    return within('Waiting for room for a sandbox', { signal: outer }, LONGEST_LIFE_S * 1000, async (signal) => {
      let place = await this.limiter.enter(signal);
      let settled: Promise<void> | undefined;
      try {
        await this.intents.add(id, spec.labels);
        for (;;) {
          await this.limiter.turn(signal);
          try {
            const answer = await this.ask(id, template, spec, signal);
            place.accepted();
            await this.intents.settle(id);
            const domain = answer.domain ?? undefined;
            const url = this.account.sandboxUrl ?? `https://${DAEMON_PORT}-${answer.sandboxID}.${domain ?? this.account.domain}`;
            return { place, reach: { sandboxId: answer.sandboxID, url, token: answer.envdAccessToken ?? undefined } };
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
            const known = error instanceof Refused && error.status >= 400 && error.status < 500;
            if (!known) settled = this.settle(id, place);
            signal.throwIfAborted();
            throw translate(error, 'Creating the sandbox');
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

  /** Ends what a creation may have made that was not answered. The note stays as long as something may still come. */
  async sweep(id: string, signal: AbortSignal): Promise<boolean> {
    const found = await this.control.list(signal, id);
    await Promise.all(found.map(({ sandboxId }) => this.control.kill(sandboxId, signal)));
    return found.length > 0;
  }

  async close(): Promise<void> {
    await Promise.all(this.settling);
  }

  private async ask(id: string, templateID: string, spec: SandboxSpec, signal: AbortSignal): Promise<Answer> {
    const json = {
      templateID,
      metadata: await metadataOf(id, spec.labels),
      timeout: Math.min(LONGEST_LIFE_S, Math.ceil(spec.lifetimeMs / 1000)),
      secure: true,
      allow_internet_access: spec.network === 'full',
    };
    return ask<Answer>({ url: `${this.account.apiUrl}/v2/sandboxes`, json, headers: { 'X-API-KEY': this.account.apiKey }, signal, silenceMs: ANSWER_MS });
  }

  private settle(id: string, place: Place): Promise<void> {
    const looking = (async () => {
      for (const wait of LOOKS) {
        await pause(wait);
        if (await this.sweep(id, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => false)) {
          await this.intents.settle(id);
          return;
        }
      }
      setTimeout(() => void this.sweep(id, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => undefined), LATE_LOOK_MS).unref();
    })().finally(() => {
      place.release();
      this.settling.delete(looking);
    });
    this.settling.add(looking);
    return looking;
  }
}
