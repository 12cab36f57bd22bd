/** What a run will cost, before it begins: episodes x how long one is likely to take x what a second costs. */
import { costPerSecond } from '../sandbox/prices.js';
import { PROVIDERS } from '../sandbox/registry.js';
import type { RunRecord } from '../store/records.js';
import { loadTemplate } from '../template/load.js';
import { seedCount, type Template } from '../template/template.js';
import { isBilled, readPrices } from './billing.js';
import type { Engine, RunRequest } from './engine.js';
import type { CostEstimate } from './reports.js';
import { parseSeeds } from './seeds.js';

/** Runs that are looked into for how long an episode takes. */
const MOST_LOOKED_AT = 20;

/** Of a run that is about to begin. Null where nothing is billed; `auto` never takes a provider that bills. */
export async function estimate(engine: Engine, file: string, request: RunRequest): Promise<CostEstimate | null> {
  const template = await loadTemplate(file);
  const provider = [request.provider, template.provider].find((id) => id !== undefined && id !== 'auto');
  const seeds = request.seeds === undefined ? template.episode.seeds : parseSeeds(request.seeds);
  const episodes = seedCount(seeds) * (request.samples ?? template.episode.samples);
  return costOf(engine, template, provider, episodes, request.timeoutMs ?? template.episode.timeoutMs, request.maxCost ?? template.maxCost);
}

/** Of a run over the seeds of an old one: all of them, those that failed, or those that are missing. */
export async function estimateOf(engine: Engine, name: string, which: 'all' | 'failed' | 'missing', maxCost?: number): Promise<CostEstimate | null> {
  const old = await engine.runs.find(name);
  if (!isBilled(old.provider)) return null;
  const template = await loadTemplate(old.file);
  const { records } = await engine.reader(old.id);
  const episodes = which === 'all' ? old.total : which === 'missing' ? old.total - records.length : records.filter(({ status, reward }) => status === 'error' || reward === null).length;
  return costOf(engine, template, old.provider, episodes, old.timeoutMs, maxCost ?? old.maxCost);
}

async function costOf(engine: Engine, template: Template, provider: string | undefined, episodes: number, timeoutMs: number, maxCost: number | undefined): Promise<CostEstimate | null> {
  const entry = PROVIDERS.find(({ id }) => id === provider);
  if (!entry?.remote) return null;
  const prices = await readPrices(engine.layout);
  const price = costPerSecond(prices, entry.id, template.resources);
  const scoring = template.reward.reduce((sum, component) => sum + component.timeout, 0);
  const previous = await previousSeconds(engine, template, entry.id);
  const secondsEach = previous?.seconds ?? (timeoutMs + scoring) / 1000;
  const common = { provider: entry.id, title: entry.title, episodes, secondsEach, asOf: prices.asOf, ...(previous && { previous: previous.number }), ...(maxCost !== undefined && { maxCost }) };
  return 'unknown' in price ? { ...common, dollars: null, perHour: null, unknown: price.unknown } : { ...common, dollars: episodes * secondsEach * price.dollars, perHour: price.dollars * 3600 };
}

/** How long an episode's sandbox lived in the newest run of the template that finished any, on the same provider if there is one. */
async function previousSeconds(engine: Engine, template: Template, provider: string): Promise<{ readonly seconds: number; readonly number: number } | undefined> {
  const runs = (await engine.runs.list()).filter((run) => run.file === template.file && (run.summary?.finished ?? 0) > 0).slice(0, MOST_LOOKED_AT);
  const run = runs.find((each) => each.provider === provider) ?? runs[0];
  return run && { number: run.number, seconds: await secondsOf(engine, run) };
}

async function secondsOf(engine: Engine, run: RunRecord): Promise<number> {
  const { finished } = run.summary!;
  if (run.cost && run.cost.seconds > 0) return run.cost.seconds / finished;
  // Without the time until a sandbox was there, most of which nothing is paid for.
  const { time } = (await engine.reader(run.id)).aggregate.snapshot();
  return (time.act + time.score + time.terminate) / finished / 1000;
}
