/** What a run's sandboxes cost: the prices that hold in a folder, and the meter of a run. */
import { join } from 'node:path';
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

export interface Billing {
  readonly prices: Prices;
  /** Dollars a second; 0 where nothing is billed. */
  readonly rate: (provider: string, resources: Resources) => number;
}

/**
 * Undefined where nothing is billed, or where no price is known and there is no cap that would need one. Rejects if there is.
 */
export async function billingOf(layout: Layout, template: Template, provider: string, maxCost: number | undefined): Promise<Billing | undefined> {
  if (!isBilled(provider)) return undefined;
  const prices = await readPrices(layout);
  const all = [template.resources, ...template.reward.flatMap((component) => (component.type === 'sandbox' ? [component.resources] : []))];
  const unknown = all.map((resources) => costPerSecond(prices, provider, resources)).flatMap((price) => ('unknown' in price ? [price.unknown] : []));
  if (unknown.length > 0) {
    if (maxCost === undefined) return undefined;
    throw new Error(`\`max_cost\` cannot be kept: ${unknown[0]}; add it to ${join(layout.base, 'prices.json')}, or remove \`max_cost\``);
  }
  const rate = (id: string, resources: Resources): number => {
    const price = isBilled(id) ? costPerSecond(prices, id, resources) : { dollars: 0 };
    return 'dollars' in price ? price.dollars : 0;
  };
  return { prices, rate };
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

  /** Counts a sandbox from its creation to its end. */
  watch(sandbox: Sandbox, resources: Resources): Sandbox {
    const end = this.meter.begin(this.billing.rate(sandbox.info.provider, resources), Math.max(0, Date.now() - sandbox.info.createdAt));
    this.live.add(sandbox);
    void sandbox.ended.then(() => {
      this.live.delete(sandbox);
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
