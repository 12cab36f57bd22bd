/** What a run will cost, before it begins: episodes x how long one is likely to take x what a second costs. */
import { readFile } from 'node:fs/promises';
import { costPerSecond, type Prices } from '../sandbox/prices.js';
import { PROVIDERS } from '../sandbox/registry.js';
import type { RunRecord } from '../store/records.js';
import { loadTemplate } from '../template/load.js';
import { parseTemplate } from '../template/parse.js';
import { seedCount, type Template } from '../template/template.js';
import { isBilled, paidSandboxes, readPrices, requireNoCap, unknownPrice, type PaidSandbox } from './billing.js';
import type { Engine, RunRequest } from './engine.js';
import type { CostEstimate } from './reports.js';
import { requireAble } from './providers.js';
import { forkOf, type ForkRequest } from './sandboxes/fork.js';
import { parseSeeds } from './seeds.js';

/** Runs that are looked into for how long an episode takes. */
const MOST_LOOKED_AT = 20;

/** Of a run that is about to begin. Null where nothing is billed; `auto` never takes a provider that bills. */
export async function estimate(engine: Engine, file: string, request: RunRequest): Promise<CostEstimate | null> {
  const template = await loadTemplate(file);
  const provider = [request.provider, template.provider].find((id) => id !== undefined && id !== 'auto');
  // Nobody is asked about what is refused.
  if (provider !== undefined && isBilled(provider)) requireAble(parseTemplate(await readFile(template.file, 'utf8'), template.file), provider);
  const seeds = request.seeds === undefined ? template.episode.seeds : parseSeeds(request.seeds);
  const episodes = seedCount(seeds) * (request.samples ?? template.episode.samples);
  return costOf(engine, template, provider, episodes, request.timeoutMs ?? template.episode.timeoutMs, request.maxCost ?? template.maxCost);
}

/** What is done with the episodes of an old run: all of them again, those that failed, those that are missing, or their actions again, of one or of all that are finished. */
export type Again = 'all' | 'failed' | 'missing' | 'replay' | number;

/** Of a run over the seeds of an old one. */
export async function estimateOf(engine: Engine, name: string, which: Again, maxCost?: number): Promise<CostEstimate | null> {
  const old = await engine.runs.find(name);
  const template = await loadTemplate(old.file);
  if (paidSandboxes(template, old.provider).length === 0) return null;
  const { records } = await engine.reader(old.id);
  const finished = new Set(records.map(({ episode }) => episode)).size;
  const failed = (): number => records.filter(({ status, reward }) => status === 'error' || reward === null).length;
  const episodes = typeof which === 'number' ? 1 : { all: () => old.total, missing: () => old.total - finished, replay: () => finished, failed }[which]();
  return costOf(engine, template, old.provider, episodes, old.timeoutMs, maxCost ?? old.maxCost);
}

/** Of episodes that begin at a step of a trace. */
export async function estimateFork(engine: Engine, request: ForkRequest): Promise<CostEstimate | null> {
  const { file, provider, timeoutMs } = await forkOf(engine, request);
  const template = await loadTemplate(file);
  return costOf(engine, template, provider, request.samples ?? 1, request.timeoutMs ?? timeoutMs ?? template.episode.timeoutMs, template.maxCost);
}

async function costOf(engine: Engine, template: Template, provider: string | undefined, episodes: number, timeoutMs: number, maxCost: number | undefined): Promise<CostEstimate | null> {
  const paid = paidSandboxes(template, provider ?? 'auto', timeoutMs);
  const entry = PROVIDERS.find(({ id }) => id === paid[0]?.provider);
  if (!entry) return null;
  const prices = await readPrices(engine.layout);
  const unknown = unknownPrice(prices, paid);
  if (unknown !== undefined) requireNoCap(engine.layout, unknown, maxCost);
  const previous = await previousSeconds(engine, template, entry.id);
  const longest = paid.reduce((sum, { longestMs }) => sum + longestMs / 1000, 0);
  const secondsEach = previous?.seconds ?? longest;
  const { keepWarmMs } = template;
  const common = { provider: entry.id, title: entry.title, episodes, secondsEach, asOf: prices.asOf, ...(keepWarmMs !== undefined && { keepWarmMs }), ...(previous && { previous: previous.number }), ...(maxCost !== undefined && { maxCost }) };
  if (unknown !== undefined) return { ...common, dollars: null, perHour: null, unknown };
  // Where an episode takes several sandboxes, at the mean of their prices.
  const perSecond = paid.reduce((sum, each) => sum + (each.longestMs / 1000) * dollarsPerSecond(prices, each), 0) / longest;
  return { ...common, dollars: episodes * secondsEach * perSecond, perHour: perSecond * 3600 };
}

function dollarsPerSecond(prices: Prices, { provider, resources }: PaidSandbox): number {
  const price = costPerSecond(prices, provider, resources);
  return 'dollars' in price ? price.dollars : NaN;
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
