/**
 * Stands in for VS Code and the extension, inside the page: answers the run view's requests over a made-up run, with the project's own
 * statistics and filter behind it and its own check of what the page sends. Tests steer it through `window.stub`.
 */
import type { ArtifactContent, EpisodeDetail, Rows, RowsQuery, RunRecord, RunSnapshot, RunViewRequests, ToExtension, ToWebview } from '../../src/protocol/runView.js';
import { parseMessage } from '../../src/extension/panels/messages.js';
import { findings } from '../../src/engine/findings.js';
import { advantageOf, queryGroups, seedFigures } from '../../src/rollout/groups.js';
import { queryRows } from '../../src/rollout/query.js';
import { RewardMatrix } from '../../src/rollout/rewardMatrix.js';
import { RunAggregate } from '../../src/rollout/summary.js';
import type { EpisodeRecord } from '../../src/store/records.js';
import { type RunOverrides, episodeRecord, finishOrder, runRecord } from './generate.js';
import { standIn } from './standIn.js';

export interface StubOptions {
  readonly total: number;
  /** Episodes that have finished when the page opens; all if absent. */
  readonly finished?: number;
  readonly running?: number;
  readonly run?: RunOverrides;
  readonly trusted?: boolean;
  /** The run is read as the page comes up, which takes so long, ms: nothing is answered before. */
  readonly readsForMs?: number;
  readonly allFail?: boolean;
  readonly show?: { episode?: number; filter?: string };
  /** Content of artifacts, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Takes the place of what was made up for an episode. */
  readonly details?: Readonly<Record<number, { record?: Partial<EpisodeRecord>; stdout?: string; stderr?: string; verifier?: string; dropped?: number; artifacts?: EpisodeDetail['artifacts'] }>>;
}

const STDOUT = `\x1b[1mpytest\x1b[0m -q tests/
\x1b[32m........\x1b[0m\x1b[31mF\x1b[0m\x1b[33ms\x1b[0m                                                 [100%]
\x1b[31m\x1b[1mFAILED\x1b[0m tests/test_a.py::\x1b[1mtest_zero\x1b[0m - ZeroDivisionError: division by zero
\x1b[36mworker 0\x1b[0m finished in \x1b[38;5;208m0.42 s\x1b[0m
\x1b[44;97m summary \x1b[0m 8 passed, 1 failed, 1 skipped
0.6125
`;

const STDERR = `\x1b[33mwarning:\x1b[0m the cache folder is read-only; continuing without it\n`;

declare global {
  interface Window {
    __stubOptions: StubOptions;
    stub: StubHost;
  }
}

class StubHost {
  /** What the page asked for, in order. */
  readonly requests: ToExtension[] = [];
  /** Set by a test: requests of these names are answered with an error. */
  readonly failing = new Map<string, string>();
  readonly #options: StubOptions;
  readonly #order: number[];
  #run: RunRecord;
  #records: EpisodeRecord[] = [];
  #figures = new RunAggregate();
  readonly #matrix: RewardMatrix;
  #revision = 1;
  #sorted?: { key: string; rows: Rows };

  constructor(options: StubOptions) {
    this.#options = options;
    this.#run = runRecord(options.total, options.run);
    this.#matrix = new RewardMatrix(this.#run.samples, options.total);
    this.#order = finishOrder(options.total);
    this.#take(options.finished ?? options.total);
    // Computed now, as another process would have done it by the time the page asks: what is measured is the page.
    this.#figures.snapshot();
    this.#sort({ filter: '', sort: 'finish', descending: false });
  }

  #query(query: RowsQuery): Rows {
    return queryRows(this.#records, query, this.#run.samples > 1 ? ({ episode }) => advantageOf(this.#matrix, episode) : undefined);
  }

  /** All rows in an order, sorted once. */
  #sort(order: Omit<RowsQuery, 'start' | 'count'>): Rows {
    const key = JSON.stringify(order);
    if (this.#sorted?.key !== key) this.#sorted = { key, rows: this.#query({ ...order, start: 0, count: Number.MAX_SAFE_INTEGER }) };
    return this.#sorted.rows;
  }

  /** The first window of another order as the engine makes it, any further one from all of them: what is measured while it scrolls is the page. */
  #window({ start, count, ...order }: RowsQuery): Rows {
    if (this.#sorted?.key !== JSON.stringify(order) && start === 0) return this.#query({ start, count, ...order });
    const all = this.#sort(order);
    return { ...all, start, rows: all.rows.slice(start, start + count) };
  }

  #take(count: number): void {
    for (const episode of this.#order.slice(this.#records.length, this.#records.length + count)) {
      const made = episodeRecord(episode, { samples: this.#run.samples, allFail: this.#options.allFail });
      const record = { ...made, ...this.#options.details?.[episode]?.record };
      this.#records.push(record);
      this.#figures.add(record);
      this.#matrix.add(record);
    }
  }

  /** That many more episodes finish. */
  finish(count: number, run: Partial<RunRecord> = {}): void {
    this.#take(count);
    this.change(run);
  }

  change(run: Partial<RunRecord>): void {
    this.#run = { ...this.#run, ...run };
    this.#revision++;
    this.#sorted = undefined;
    this.#post({ method: 'changed', params: {} });
  }

  show(target: { episode?: number; filter?: string }): void {
    this.#post({ method: 'show', params: target });
  }

  #post(message: ToWebview): void {
    const read = (this.#options.readsForMs ?? 0) - (performance.now() - (performance.getEntriesByName('host-ready')[0]?.startTime ?? 0));
    setTimeout(() => window.postMessage(structuredClone(message), '*'), Math.max(1, read));
  }

  receive(value: unknown): void {
    const parsed = parseMessage(value);
    if (!parsed.ok) throw new Error(`The page sent what is not of the protocol: ${JSON.stringify(value)}`);
    const { message } = parsed;
    this.requests.push(message);
    const failure = this.failing.get(message.method);
    if (failure !== undefined) return this.#post({ id: message.id, error: failure });
    const result = this.#answer(message);
    if (result instanceof Promise) void result.then((value: unknown) => this.#post({ id: message.id, result: value }));
    else this.#post({ id: message.id, result });
  }

  #answer(message: ToExtension): unknown {
    switch (message.method) {
      case 'ready': return { snapshot: this.#snapshot(), trusted: this.#options.trusted ?? true, ...(this.#options.show && { show: this.#options.show }) } satisfies RunViewRequests['ready']['result'];
      case 'snapshot': return this.#snapshot();
      case 'rows': return this.#window(message.params);
      case 'groups': return queryGroups(this.#matrix, message.params);
      case 'episode': return this.#detail(message.params.episode);
      case 'artifact': return this.#artifact(message.params.artifact);
      default: return null;
    }
  }

  async #artifact(name: string): Promise<ArtifactContent> {
    const text = this.#options.files?.[name] ?? `diff --git a/src/interval.py b/src/interval.py\n${'+        return self.start\n'.repeat(40)}`;
    const bytes = name.endsWith('.png') ? await picture() : new TextEncoder().encode(text);
    return { size: bytes.length, bytes };
  }

  #snapshot(): RunSnapshot {
    const active = this.#run.state === 'running';
    return {
      ...this.#figures.snapshot(),
      ...seedFigures(this.#matrix),
      findings: findings({ run: this.#run, ...this.#figures.snapshot() }),
      run: this.#run,
      revision: this.#revision,
      running: active ? (this.#options.running ?? Math.min(64, this.#options.total - this.#records.length)) : 0,
      episodesPerSecond: this.#records.length > 0 ? 18.2 : null,
      durationMs: 41_000,
    };
  }

  #detail(episode: number): EpisodeDetail {
    const record = this.#records.find((each) => each.episode === episode) ?? episodeRecord(episode);
    const { stdout = STDOUT, stderr = record.cause === undefined ? '' : STDERR, verifier = 'tests_passed 0.625\nstyle 0.56\n', dropped = 0, artifacts } = this.#options.details?.[episode] ?? {};
    const kept = record.artifacts > 0 ? [{ path: 'workspace/solution.patch', size: 1834 }, { path: 'logs/verifier/ctrf.json', size: 24_120 }] : [];
    return { record, stdout: { text: stdout, dropped }, stderr: { text: stderr, dropped: 0 }, verifier: { text: verifier, dropped: 0 }, artifacts: artifacts ?? kept };
  }
}

/** A curve, as a PNG. */
async function picture(): Promise<Uint8Array> {
  const canvas = new OffscreenCanvas(320, 180);
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 320, 180);
  context.strokeStyle = '#1f77b4';
  context.lineWidth = 2;
  context.beginPath();
  for (let x = 0; x < 320; x++) context.lineTo(x, 150 - 120 * (1 - Math.exp(-x / 90)) + 8 * Math.sin(x / 5));
  context.stroke();
  return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
}

const stub = (window.stub = new StubHost(window.__stubOptions));
standIn(stub, 'stub-state');
