/** A run as it lies on disk: follows `episodes.jsonl`, whoever writes it, and computes what the views show. */
import { EpisodeReader } from '../store/episodeLog.js';
import type { Layout } from '../store/layout.js';
import type { EpisodeRecord, RunRecord, RunTotals } from '../store/records.js';
import type { Rows, RowsQuery, RunSnapshot } from '../protocol/runView.js';
import { RunAggregate } from '../rollout/summary.js';
import { queryRows } from '../rollout/query.js';

export class RunReader {
  readonly records: EpisodeRecord[] = [];
  readonly aggregate = new RunAggregate();
  private revision = 0;
  private seen = '';
  private readonly reader: EpisodeReader;
  private reading: Promise<void> | undefined;

  constructor(layout: Layout, readonly id: string) {
    this.reader = new EpisodeReader(layout.episodesFile(id));
  }

  /** Takes in what was appended since. Calls that overlap share one read. */
  refresh(): Promise<void> {
    this.reading ??= this.reader
      .read((record) => {
        this.records.push(record);
        this.aggregate.add(record);
      })
      .finally(() => (this.reading = undefined));
    return this.reading;
  }

  snapshot(run: RunRecord, running: number): RunSnapshot {
    const seen = `${this.records.length} ${running} ${run.state} ${run.snapshot?.id}`;
    if (seen !== this.seen) {
      this.seen = seen;
      this.revision += 1;
    }
    const durationMs = (run.finishedAt ?? Date.now()) - (run.startedAt ?? run.createdAt);
    return { run, running, ...this.aggregate.snapshot(), revision: this.revision, episodesPerSecond: perSecond(this.records.length, durationMs), durationMs };
  }

  rows(query: RowsQuery): Rows {
    return queryRows(this.records, query);
  }
}

export function totals(aggregate: RunAggregate, run: RunRecord): RunTotals {
  const { finished, counts, stats } = aggregate.snapshot();
  const durationMs = (run.finishedAt ?? Date.now()) - (run.startedAt ?? run.createdAt);
  return { finished, errors: counts.error, unscored: stats.unscored, mean: stats.mean, ci95: stats.ci95, episodesPerSecond: perSecond(finished, durationMs) };
}

const perSecond = (count: number, ms: number): number | null => (count > 0 && ms > 0 ? (count * 1000) / ms : null);
