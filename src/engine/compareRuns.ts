/** Two runs, seed by seed: `rollout/paired.ts` over what lies on disk, and in what the two were not asked the same. */
import { pairedFigures, queryPairs, seedPairs } from '../rollout/paired.js';
import type { Pairs, PairsQuery, RunComparison, RunDifference, SeedPair } from '../store/comparison.js';
import type { RunRecord } from '../store/records.js';
import type { Engine } from './engine.js';

interface Compared {
  readonly key: string;
  readonly comparison: RunComparison;
  readonly pairs: readonly SeedPair[];
}

export class RunComparisons {
  /** The last few: a page asks for the figures once and for windows of the seeds many times. */
  private readonly kept = new Map<string, Compared>();

  /** `a` and `b`: ids of runs. Rejects with one sentence if there is no such run. */
  async compare(engine: Engine, a: string, b: string): Promise<RunComparison> {
    return (await this.compared(engine, a, b)).comparison;
  }

  async pairs(engine: Engine, a: string, b: string, query: PairsQuery): Promise<Pairs> {
    return queryPairs((await this.compared(engine, a, b)).pairs, query);
  }

  private async compared(engine: Engine, a: string, b: string): Promise<Compared> {
    const [readerA, readerB] = [await engine.reader(a), await engine.reader(b)];
    const names = JSON.stringify([engine.layout.base, a, b]);
    const runs = { a: await engine.record(a), b: await engine.record(b) };
    const key = JSON.stringify([readerA.records.length, readerB.records.length, runs.a.state, runs.b.state]);
    let found = this.kept.get(names);
    if (found?.key !== key) {
      const pairs = seedPairs(readerA.matrix, readerB.matrix);
      const finished = { a: readerA.records.length, b: readerB.records.length };
      found = { key, pairs, comparison: { runs, differences: differences(runs, finished), ...pairedFigures(pairs) } };
    }
    this.kept.delete(names);
    this.kept.set(names, found);
    if (this.kept.size > COMPARISONS_KEPT) this.kept.delete(this.kept.keys().next().value!);
    return found;
  }
}

const COMPARISONS_KEPT = 4;

function differences({ a, b }: RunComparison['runs'], finished: { readonly a: number; readonly b: number }): RunDifference[] {
  const of = (what: RunDifference['what'], value: (run: RunRecord) => string | number): RunDifference => ({ what, a: String(value(a)), b: String(value(b)) });
  const found = [
    of('template', (run) => run.template),
    of('digest', (run) => run.templateDigest.slice(0, DIGEST_SHOWN)),
    // Another content is another snapshot, too.
    ...(a.templateDigest === b.templateDigest ? [of('snapshot', (run) => run.snapshot?.id ?? '')] : []),
    // Runs of before these were kept say nothing of them.
    ...(a.asked && b.asked ? [of('episode', (run) => run.asked!.episode.slice(0, DIGEST_SHOWN)), of('reward', (run) => run.asked!.reward.slice(0, DIGEST_SHOWN))] : []),
    of('policy', (run) => run.policy),
    of('provider', (run) => run.provider),
    of('samples', (run) => run.samples),
    of('timeout', (run) => run.timeoutMs),
  ].filter((difference) => difference.a !== difference.b);
  const missing = { a: a.total - finished.a, b: b.total - finished.b };
  return [...found, ...(missing.a > 0 || missing.b > 0 ? [{ what: 'unfinished' as const, a: String(missing.a), b: String(missing.b) }] : [])];
}

const DIGEST_SHOWN = 12;
