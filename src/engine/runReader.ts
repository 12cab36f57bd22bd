/** A run as it lies on disk: follows `episodes.jsonl`, whoever writes it, and computes what the views show. */
import { EpisodeReader } from '../store/episodeLog.js';
import type { Layout } from '../store/layout.js';
import type { EpisodeRecord, RunRecord, RunTotals } from '../store/records.js';
import type { Groups, GroupsQuery, Rows, RowsQuery, RunSnapshot, RunWaits, SeedFigures } from '../protocol/runView.js';
import { findings } from './findings.js';
import { advantageOf, queryGroups, seedFigures } from '../rollout/groups.js';
import { RunAggregate } from '../rollout/summary.js';
import { queryRows } from '../rollout/query.js';
import { RewardMatrix } from '../rollout/rewardMatrix.js';
import { seedCount } from '../template/template.js';

export class RunReader {
  readonly records: EpisodeRecord[] = [];
  readonly aggregate = new RunAggregate();
  private revision = 0;
  private seen = '';
  private readonly reader: EpisodeReader;
  private reading: Promise<void> | undefined;
  readonly matrix: RewardMatrix;
  private figures: SeedFigures | undefined;
  /** How many records the figures are of. */
  private figured = -1;

  constructor(layout: Layout, { id, seeds, samples }: Pick<RunRecord, 'id' | 'seeds' | 'samples'>) {
    this.reader = new EpisodeReader(layout.episodesFile(id));
    this.matrix = new RewardMatrix(samples, seedCount(seeds) * samples);
  }

  /** Takes in what was appended since. Calls that overlap share one read. */
  refresh(): Promise<void> {
    this.reading ??= this.reader
      .read((record) => {
        this.records.push(record);
        this.aggregate.add(record);
        this.matrix.add(record);
      })
      .finally(() => (this.reading = undefined));
    return this.reading;
  }

  snapshot(run: RunRecord, running: number, waits?: RunWaits): RunSnapshot {
    const seen = `${this.records.length} ${running} ${run.state} ${run.snapshot?.id} ${run.cost?.spent} ${JSON.stringify(waits)}`;
    if (seen !== this.seen) {
      this.seen = seen;
      this.revision += 1;
    }
    const durationMs = (run.finishedAt ?? Date.now()) - (run.startedAt ?? run.createdAt);
    const figures = this.aggregate.snapshot();
    return { run, running, ...figures, findings: findings({ run, ...figures }), ...(waits && { waits }), ...this.seeds(), revision: this.revision, episodesPerSecond: perSecond(this.records.length, durationMs), durationMs };
  }

  private seeds(): SeedFigures {
    if (this.figured !== this.records.length) {
      this.figures = seedFigures(this.matrix);
      this.figured = this.records.length;
    }
    return this.figures!;
  }

  /** `threshold` is the reward from which an episode is solved. */
  seedFigures(threshold: number): SeedFigures {
    return seedFigures(this.matrix, threshold);
  }

  groups(query: GroupsQuery): Groups {
    return queryGroups(this.matrix, query);
  }

  rows(query: RowsQuery): Rows {
    return queryRows(this.records, query, this.matrix.samples > 1 ? (record) => advantageOf(this.matrix, record.episode) : undefined);
  }
}

export function totals(aggregate: RunAggregate, run: RunRecord): RunTotals {
  const { finished, counts, stats } = aggregate.snapshot();
  const durationMs = (run.finishedAt ?? Date.now()) - (run.startedAt ?? run.createdAt);
  return { finished, errors: counts.error, unscored: stats.unscored, mean: stats.mean, ci95: stats.ci95, episodesPerSecond: perSecond(finished, durationMs) };
}

const perSecond = (count: number, ms: number): number | null => (count > 0 && ms > 0 ? (count * 1000) / ms : null);
