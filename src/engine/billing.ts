/** What a run's sandboxes cost: the prices that hold in a folder, and the meter of a run. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { Meter } from '../rollout/meter.js';
import { LONGEST_SLACK_MS } from '../rollout/episode.js';
import { costPerSecond, PRICES, pricesSchema, type Prices } from '../sandbox/prices.js';
import type { Resources, Sandbox } from '../sandbox/provider.js';
import { PROVIDERS } from '../sandbox/registry.js';
import { readJson } from '../store/json.js';
import type { Layout } from '../store/layout.js';
import type { RunRecord } from '../store/records.js';
import type { Template } from '../template/template.js';

/** Between attempts to end a sandbox that is paid for. */
const END_AGAIN_MS = 5000;

export const isBilled = (provider: string): boolean => PROVIDERS.some(({ id, remote }) => id === provider && remote);

/** The table, with the providers of `.rlenv/prices.json` in place of its own. Rejects with one sentence if that file is wrong. */
export async function readPrices({ base }: Layout): Promise<Prices> {
  const file = join(base, 'prices.json');
  const own = await readJson<unknown>(file);
  if (own === undefined) return PRICES;
  const parsed = pricesSchema.safeParse(own);
  if (!parsed.success) throw new Error(`${file} is no table of prices: ${z.prettifyError(parsed.error).replace(/\s+/g, ' ')}; correct or remove it`);
  return { asOf: parsed.data.asOf, providers: { ...PRICES.providers, ...parsed.data.providers } };
}

/** One of the sandboxes that an episode takes and that is paid for. */
export interface PaidSandbox {
  readonly provider: string;
  readonly resources: Resources;
  /** How long it may live, if all goes well. */
  readonly longestMs: number;
}

/** The episode's own at the run's provider, and those of its rewards, which are where the template itself says. */
export function paidSandboxes(template: Template, provider: string, timeoutMs = template.episode.timeoutMs): PaidSandbox[] {
  const scoring = template.reward.reduce((sum, { timeout }) => sum + timeout, 0);
  const own: PaidSandbox = { provider, resources: template.resources, longestMs: timeoutMs + scoring + (template.keepWarmMs ?? 0) };
  const others = template.reward.flatMap((component) => (component.type === 'sandbox' ? [{ provider: template.provider ?? 'auto', resources: component.resources, longestMs: component.timeout }] : []));
  return [own, ...others].filter((each) => isBilled(each.provider));
}

export interface Billing {
  /** Dollars a second; 0 where nothing is billed. */
  readonly rate: (provider: string, resources: Resources) => number;
}

/** `unknown` is of what no price is known, where something is billed that has none: then there is no sum. Rejects if there is a cap, which cannot be kept. */
export async function billingOf(layout: Layout, template: Template, provider: string, maxCost: number | undefined): Promise<{ readonly billing?: Billing; readonly unknown?: string }> {
  const paid = paidSandboxes(template, provider);
  if (paid.length === 0) return {};
  const prices = await readPrices(layout);
  const unknown = unknownPrice(prices, paid);
  if (unknown !== undefined) {
    requireNoCap(layout, unknown, maxCost);
    return { unknown };
  }
  const rate = (id: string, resources: Resources): number => {
    const price = isBilled(id) ? costPerSecond(prices, id, resources) : { dollars: 0 };
    return 'dollars' in price ? price.dollars : 0;
  };
  return { billing: { rate } };
}

/** Of what no price is known, as the end of a sentence. */
export function unknownPrice(prices: Prices, paid: readonly PaidSandbox[]): string | undefined {
  for (const { provider, resources } of paid) {
    const price = costPerSecond(prices, provider, resources);
    if ('unknown' in price) return price.unknown;
  }
  return undefined;
}

/** @throws Error if a cap is asked for */
export function requireNoCap({ base }: Layout, unknown: string, maxCost: number | undefined): void {
  if (maxCost !== undefined) throw new Error(`\`max_cost\` cannot be kept: ${unknown}; add it to ${join(base, 'prices.json')}, or remove \`max_cost\``);
}

/** Counts the sandboxes of a run, and ends those that live when the cap is come to. */
export class Bill {
  readonly meter: Meter;
  private readonly live = new Set<Sandbox>();

  constructor(
    { maxCost, cost, timeoutMs }: RunRecord,
    private readonly billing: Billing,
    onCap: () => void,
  ) {
    this.meter = new Meter({
      from: cost,
      cap: maxCost,
      lifetimeMs: timeoutMs + LONGEST_SLACK_MS,
      onCap: () => {
        onCap();
        for (const sandbox of this.live) void sandbox.terminate().catch(() => undefined);
      },
    });
  }

  /** Counts a sandbox from its creation until its provider has said that it is gone. */
  watch(sandbox: Sandbox, resources: Resources): Sandbox {
    const rate = this.billing.rate(sandbox.info.provider, resources);
    const end = this.meter.begin(rate, Math.max(0, Date.now() - sandbox.info.createdAt));
    this.live.add(sandbox);
    void sandbox.ended.then(async () => {
      this.live.delete(sandbox);
      if (rate > 0) await gone(sandbox);
      end();
    });
    return sandbox;
  }

  /** Counts one for as long as something takes that says in the end whether there was one. */
  async during<T>(provider: string, resources: Resources, work: () => Promise<T>, wasThere: (result: T) => boolean): Promise<T> {
    const end = this.meter.begin(this.billing.rate(provider, resources));
    try {
      const result = await work();
      end(wasThere(result) ? undefined : 'taken-back');
      return result;
    } finally {
      end();
    }
  }
}

/** `ended` says that its end was asked for. Until that is known to have come to something it costs, at most to the end of its life, when the service ends it. */
async function gone(sandbox: Sandbox): Promise<void> {
  while (Date.now() < sandbox.info.labels.expires) {
    try {
      // One that is being ended already is not asked again.
      return await sandbox.terminate();
    } catch {
      await pause(END_AGAIN_MS, undefined, { ref: false });
    }
  }
}
