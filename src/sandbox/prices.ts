/** What a second of a sandbox costs at a service: the table `prices.json`, with a source for each line, and a pure function over it. */
import * as z from 'zod';
import table from './prices.json' with { type: 'json' };
import type { Resources } from './provider.js';

const rate = z.strictObject({ dollars: z.number().min(0), per: z.enum(['second', 'hour']), source: z.string() });
/** `default` is what a sandbox has that asks for nothing, `least` what every one has; cores, or GiB of memory. `whole` ones are rounded up. */
const amount = rate.extend({ default: z.number().min(0), least: z.number().min(0), whole: z.boolean().optional() });
const gpu = rate.extend({ model: z.string().min(1) });

export const pricesSchema = z.strictObject({
  /** Day on which the sources were read, `YYYY-MM-DD`. */
  asOf: z.iso.date(),
  providers: z.record(z.string(), z.strictObject({ cpu: amount, memory: amount, gpus: z.array(gpu) })),
});

export type Prices = z.infer<typeof pricesSchema>;
type Rate = Pick<z.infer<typeof rate>, 'dollars' | 'per'>;

export const PRICES: Prices = pricesSchema.parse(table);

const HOUR_S = 3600;
const GIB = 2 ** 30;

const perSecond = ({ dollars, per }: Rate): number => dollars / (per === 'hour' ? HOUR_S : 1);

/** Dollars a second, or why nobody can say, as the end of a sentence. A GPU of any model is priced as the dearest, so that a cap holds. */
export function costPerSecond(prices: Prices, provider: string, { cpu, memory, gpu }: Resources): { readonly dollars: number } | { readonly unknown: string } {
  const own = prices.providers[provider];
  if (!own) return { unknown: `no prices are known of the provider "${provider}"` };
  const size = ({ default: usual, least, whole }: z.infer<typeof amount>, asked: number | undefined): number => {
    const wanted = Math.max(least, asked ?? usual);
    return whole ? Math.ceil(wanted) : wanted;
  };
  let dollars = size(own.cpu, cpu) * perSecond(own.cpu) + size(own.memory, memory === undefined ? undefined : memory / GIB) * perSecond(own.memory);
  if (gpu) {
    const fitting = own.gpus.filter(({ model }) => gpu.model === undefined || alike(model, gpu.model));
    if (fitting.length === 0 || gpu.count === 'all') return { unknown: `no price is known of ${gpu.count === 'all' ? 'all GPUs' : `a GPU ${gpu.model ?? ''}`.trimEnd()} at the provider "${provider}"` };
    dollars += gpu.count * Math.max(...fitting.map(perSecond));
  }
  return { dollars };
}

/** Models are written in many ways: `A100-80`, `A100 80GB`, `a100`. */
function alike(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.toLowerCase().replace(/[^a-z0-9]/g, '')) as [string, string];
  return a.includes(b) || b.includes(a);
}
