/** Where a policy is tried: an engine in a folder of its own, on one provider. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine, type RunRequest } from '../../../src/engine/engine.js';
import type { EpisodeRecord, RunRecord } from '../../../src/store/records.js';
import { traceEvent } from '../../../src/trace/schema.js';
import type { StepEvent, TraceEvent } from '../../../src/trace/events.js';

export interface Played {
  readonly run: RunRecord;
  readonly failure: unknown;
  readonly records: readonly EpisodeRecord[];
  /** By episode. */
  readonly traces: ReadonlyMap<number, readonly TraceEvent[]>;
  readonly folder: (episode: number) => string;
}

export class Place {
  private constructor(
    readonly folder: string,
    readonly engine: Engine,
    /** First lines of every template. */
    private readonly base: string,
    readonly provider: string,
  ) {}

  static async open(provider: string, base: string): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), 'rl-policies-'));
    return new Place(folder, await Engine.open({ root: folder }), base, provider);
  }

  async close(): Promise<void> {
    await this.engine.close();
    for (const snapshot of await this.engine.snapshots.list()) await this.engine.deleteSnapshot(snapshot.id).catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  async template(name: string, text: string): Promise<string> {
    const file = join(this.folder, `${name}.rlenv.yaml`);
    await writeFile(file, `name: ${name}\n${this.base}\n${text}\n`);
    return file;
  }

  async play(file: string, request: RunRequest = {}): Promise<Played> {
    const live = await this.engine.start(file, { provider: this.provider, ...request });
    return this.ended(await live.ended, live.failure);
  }

  async ended(run: RunRecord, failure?: unknown): Promise<Played> {
    // A run that failed before its first episode has no records: why is what a test wants to read.
    const records = (await readFile(this.engine.layout.episodesFile(run.id), 'utf8').catch((error: unknown) => Promise.reject(failure ?? error))).split('\n').filter(Boolean).map((line) => JSON.parse(line) as EpisodeRecord);
    records.sort((a, b) => a.episode - b.episode);
    const traces = new Map<number, TraceEvent[]>();
    for (const { episode } of records) {
      const text = await readFile(join(this.engine.layout.episode(run.id, episode), 'trace.jsonl'), 'utf8');
      const events = text.trimEnd().split('\n').map((line) => JSON.parse(line) as TraceEvent);
      // Each line is what the published schema says.
      for (const event of events) traceEvent.parse(event);
      traces.set(episode, events);
    }
    return { run, failure, records, traces, folder: (episode) => this.engine.layout.episode(run.id, episode) };
  }
}

export const stepsOf = (events: readonly TraceEvent[]): StepEvent[] => events.filter((event) => event.type === 'step');
