/** A run that this process is carrying out. */
import type { RunWaits } from '../protocol/runView.js';
import { CostReached, type Meter } from '../rollout/meter.js';
import type { ManualSeats } from '../rollout/policies/index.js';
import { RunAggregate } from '../rollout/summary.js';
import type { EpisodeRecord, RunRecord } from '../store/records.js';

export interface LiveRunEvents {
  /** Output of the build, as it comes; hostile text. */
  readonly onOutput?: (text: string) => void;
  /** Something changed: an episode began or finished, or the state did. */
  readonly onChange?: (live: LiveRun) => void;
  /** An episode is on disk. */
  readonly onFinish?: (record: EpisodeRecord) => void;
}

export class LiveRun {
  readonly aggregate = new RunAggregate();
  running = 0;
  /** Of a run that costs something. */
  meter: Meter | undefined;
  /** What holds its sandboxes up at a service, while something does. */
  waits: () => RunWaits | undefined = () => undefined;
  /** The record on its way to the disk; never rejects. */
  writing: Promise<void> = Promise.resolve();
  /** Cheap figures for a line of progress; the exact ones are the aggregate's. */
  readonly sofar = { finished: 0, errors: 0, scored: 0, sum: 0 };
  private readonly controller = new AbortController();
  /** What made it fail, with its type. */
  failure: unknown;
  /** Resolves with the final record, never rejects: how it ended is in `state` and `error`. */
  ended!: Promise<RunRecord>;

  constructor(
    public record: RunRecord,
    private readonly events: LiveRunEvents,
    /** Where people act, if that is its policy. */
    readonly seats: ManualSeats,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ends what runs, keeps what is finished. Resolves when no sandbox is left. */
  async cancel(): Promise<void> {
    this.controller.abort(new RunCancelled());
    await this.ended;
  }

  /** Ends what runs, since it has cost what it may; what is missing can be resumed with a higher cap. */
  capReached(cap: number): void {
    this.controller.abort(new CostReached(cap));
  }

  /** The record, with what it has cost by now. */
  get current(): RunRecord {
    return this.meter ? { ...this.record, cost: this.meter.state } : this.record;
  }

  output(text: string): void {
    this.events.onOutput?.(text);
  }

  changed(): void {
    this.events.onChange?.(this);
  }

  started(): void {
    this.running += 1;
    this.changed();
  }

  /** Counts an episode that finished now, or before the run was resumed. */
  takeIn(record: EpisodeRecord): void {
    this.aggregate.add(record);
    this.sofar.finished += 1;
    if (record.status === 'error') this.sofar.errors += 1;
    if (record.reward === null) return;
    this.sofar.scored += 1;
    this.sofar.sum += record.reward;
  }

  finished(record: EpisodeRecord): void {
    this.running -= 1;
    this.takeIn(record);
    this.events.onFinish?.(record);
    this.changed();
  }
}

/** The reason of the signal when a person cancels. */
export class RunCancelled extends Error {
  constructor() {
    super('the run was cancelled');
    this.name = 'RunCancelled';
  }
}
