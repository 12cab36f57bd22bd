/**
 * Reads `trace.jsonl`. Two passes go on behind what is shown: one over the beginnings of the lines finds the steps, one parses the lines for
 * errors, rewards and totals. A step is looked up and parsed when it is asked for.
 */
import type { FileBytes, Span } from '../bytes.js';
import type { BeginEvent, EndEvent, ModelEvent, RewardEvent, StartEvent, StepEvent, TraceEvent } from '../events.js';
import { readJson } from '../json/prune.js';
import { eachLine, type Line } from '../lines.js';
import type { StepDetail, StepKind, TraceHead, Tokens } from '../model.js';
import { messageOf, StepReader, type Segment } from '../stepReader.js';
import { describeMessage, describeNetwork, describeNote, describeReward, describeStep, type Described, type StepEvents } from './describe.js';
import { readStored, textsOfBlobs } from './blobs.js';
import { inlined, MessageIndex } from './context.js';

/** Bytes of a line that tell what it is. The writer puts the type first. */
const HEAD = 64;
const BEGINS = /^\{"type":"([a-z]+)"(?:,"at":(\d{1,16})[,}])?/;
const KINDS: Partial<Record<TraceEvent['type'], StepKind>> = { message: 'message', reward: 'verifier', note: 'message', network: 'message', step: 'action' };
const LIVE_MS = 600_000;
/** Bytes that the second pass parses at once: about a millisecond, for which whoever asks for a step has to wait. */
const PARSED_TOGETHER = 128 << 10;
/** Up to how many bytes a step is read at once. */
const READ_TOGETHER = 1 << 20;
const MOST_PROBLEMS = 50;
/** Bytes that are looked at before a trace is open. */
const FIRST = 1 << 20;

export class NativeReader extends StepReader {
  private started: StartEvent | undefined;
  private ended: EndEvent | undefined;
  private rewarded: RewardEvent | undefined;
  private scanned = 0;
  private lines = 0;
  /** Where the events begin that the next `step` completes. */
  private openFrom: number | undefined;
  /** Whether the last step of the index is one that has not come to its end. */
  private provisional = false;
  private damaged = 0;
  private found = false;
  private readonly messages = new MessageIndex();
  private readonly sums = { prompt: 0, completion: 0, cached: 0, cost: 0, tokens: false, costs: false };

  private constructor(
    private readonly file: string,
    private readonly bytes: FileBytes,
  ) {
    super();
  }

  static async open(file: string, bytes: FileBytes): Promise<NativeReader> {
    const reader = new NativeReader(file, bytes);
    for (let to = FIRST; ; to *= 2) {
      await reader.scan(Math.min(bytes.size, to));
      if (reader.index.length || to >= bytes.size) break;
    }
    reader.background = reader.goThrough();
    reader.background.catch((error: unknown) => reader.problems.push(messageOf(error)));
    return reader;
  }

  protected get complete(): boolean {
    return this.found;
  }

  protected segments(): readonly Segment[] {
    return [{ first: 0, bytes: this.bytes, range: { start: 0, end: this.bytes.size } }];
  }

  protected override get blobMark(): string {
    return '$blob"';
  }

  protected override blobTexts(values: readonly unknown[]): Promise<readonly string[]> {
    return textsOfBlobs(this.file, values);
  }

  protected readBlob(ref: string): Promise<Uint8Array> {
    return readStored(this.file, ref);
  }

  head(): Promise<TraceHead> {
    const { started, ended, rewarded, sums } = this;
    const live = !ended && Date.now() - this.bytes.modifiedAt < LIVE_MS;
    const tokens: Tokens | undefined = sums.tokens ? { prompt: sums.prompt, completion: sums.completion, ...(sums.cached && { cached: sums.cached }) } : undefined;
    return Promise.resolve({
      format: 'native',
      ...(started && { version: String(started.version), agent: started.policy.name, task: started.template, seed: started.seed, sample: started.sample, startedAt: started.at }),
      ...(started?.policy.model !== undefined && { model: started.policy.model }),
      title: started ? `${started.template} · episode ${started.episode}` : this.file.split(/[\\/]/).at(-1)!,
      steps: this.index.length,
      ...(ended && { endedAt: ended.at }),
      ...(tokens && { tokens }),
      ...(sums.costs && { cost: sums.cost }),
      reward: rewarded?.reward ?? ended?.reward ?? null,
      ...(rewarded && { components: rewarded.components }),
      end: ended ? { status: ended.status, ...(ended.cause !== undefined && { reason: ended.cause }) } : { status: 'unknown', reason: live ? 'still going on' : 'the trace stops without an end: its process died' },
      live,
      problems: [...this.problems, ...this.torn(live), ...(this.damaged > MOST_PROBLEMS ? [`and ${this.damaged - MOST_PROBLEMS} more damaged lines`] : [])],
      ...(this.index.known < this.index.length || !this.found ? { indexed: this.bytes.size ? this.scanned / this.bytes.size / (this.found ? 1 : 2) : 1 } : {}),
      ...(started && { extra: started }),
    });
  }

  /** What a crash left of a last line; of a trace that is being written it is the line that is being written. */
  private torn(live: boolean): string[] {
    const rest = this.bytes.size - this.scanned;
    return this.found && rest > 0 && !live ? [`line ${this.lines + 1}, the last, is torn: its ${rest} bytes are not shown`] : [];
  }

  async refresh(): Promise<boolean> {
    const before = this.bytes.size;
    await this.bytes.measure();
    if (this.bytes.gone) throw new Error('another attempt took the place of this trace. Open it again');
    if (this.bytes.size === before) return false;
    if (this.bytes.size < before) throw new Error('the trace became shorter: it was written anew. Open it again');
    this.background = this.background.then(() => this.goThrough());
    await this.background;
    return true;
  }

  protected async load(index: number, full: boolean, signal?: AbortSignal): Promise<StepDetail> {
    const { events, problem } = await this.events(index, signal);
    const step = describeEvents(events, problem);
    const call = full ? events.findLast((event) => event.type === 'model') : undefined;
    return { index, ...step, ...(call && { model: { ...step.model, request: await this.request(call, index) } }) };
  }

  /** The body as it was sent. */
  private async request(call: ModelEvent, index: number): Promise<unknown> {
    await this.knows(index);
    const messages = await this.messages.messages(this.bytes, call, inlined((name) => readStored(this.file, name)));
    return { model: call.model, ...call.parameters, messages, ...(this.started?.tools?.length && { tools: this.started.tools }) };
  }

  protected async values(index: number): Promise<readonly unknown[]> {
    return (await this.events(index)).events;
  }

  private async events(index: number, signal?: AbortSignal): Promise<{ events: TraceEvent[]; problem: unknown }> {
    const span = this.index.span(index);
    const data = span.end - span.start <= READ_TOGETHER ? await this.bytes.read(span.start, span.end) : undefined;
    const { placed, problem } = await this.parsed(span, data, span.start, signal);
    return { events: placed.map(({ event }) => event), problem };
  }

  /** The events of a range, from `data` that begins at `base`, or from the file where there is none. */
  private async parsed(span: Span, data: Buffer | undefined, base: number, signal?: AbortSignal): Promise<{ placed: { event: TraceEvent; line: Span }[]; problem: unknown }> {
    const placed: { event: TraceEvent; line: Span }[] = [];
    let problem: unknown;
    for (const line of data ? linesIn(data, span, base) : await this.linesOf(span)) {
      signal?.throwIfAborted();
      try {
        const event = data ? (JSON.parse(data.toString('utf8', line.start - base, line.end - base)) as TraceEvent) : ((await readJson(this.bytes, line)).value as TraceEvent);
        placed.push({ event, line });
      } catch (error) {
        problem = error;
      }
    }
    return { placed, problem };
  }

  private async linesOf(span: Span): Promise<Span[]> {
    const lines: Span[] = [];
    const rest = await eachLine(this.bytes, span, 0, (line) => void lines.push({ start: line.start, end: line.end }));
    if (rest < span.end) lines.push({ start: rest, end: span.end });
    return lines;
  }

  private async goThrough(): Promise<void> {
    this.found = false;
    await this.scan(this.bytes.size);
    this.found = true;
    this.moved();
    await this.learn();
    this.moved();
  }

  /** First pass, up to an offset: what steps there are. */
  private async scan(to: number): Promise<void> {
    if (this.provisional) this.index.pop();
    this.provisional = false;
    this.scanned = await eachLine(this.bytes, { start: this.scanned, end: to }, HEAD, (line) => this.take(line), this.closing.signal);
    if (this.openFrom !== undefined) {
      this.index.add(this.openFrom, this.scanned, 'action');
      this.provisional = true;
    }
    this.moved();
  }

  private take(line: Line): void | Promise<void> {
    this.lines += 1;
    if (line.end === line.start) return;
    const begins = BEGINS.exec(line.head);
    const type = begins?.[1] as TraceEvent['type'] | undefined;
    if (type === 'step' || type === 'message' || type === 'note' || type === 'network') return this.add(line, KINDS[type]!, Number(begins![2] ?? NaN));
    if (type === 'begin' || type === 'model') {
      this.openFrom ??= line.start;
      return;
    }
    return this.parse(line);
  }

  private add(line: Span, kind: StepKind, at: number): void {
    const step = kind === 'action';
    this.index.add(step ? (this.openFrom ?? line.start) : line.start, line.end, kind, at);
    if (step) this.openFrom = undefined;
  }

  /** Lines that are read at once: those of the whole, and those that do not begin as the writer writes them. */
  private async parse(line: Line): Promise<void> {
    let event: TraceEvent;
    try {
      event = (await readJson(this.bytes, line)).value as TraceEvent;
    } catch (error) {
      this.damaged += 1;
      if (this.damaged <= MOST_PROBLEMS) this.problems.push(`line ${this.lines} is damaged: ${messageOf(error)}`);
      return;
    }
    if (event?.type === 'start') this.started ??= event;
    else if (event?.type === 'end') this.ended = event;
    else if (event?.type === 'begin' || event?.type === 'model') this.openFrom ??= line.start;
    else if (KINDS[event?.type]) {
      if (event.type === 'reward') this.rewarded = event;
      this.add(line, KINDS[event.type]!, event.at);
    }
  }

  /** Second pass: errors, rewards and totals of the steps that the first has found, from whole windows of the file. */
  private async learn(): Promise<void> {
    const { index } = this;
    while (index.known < index.length - (this.provisional ? 1 : 0) && !this.closing.signal.aborted) {
      const first = index.known;
      let last = first;
      let { start } = index.span(first);
      for (; last + 1 < index.length - (this.provisional ? 1 : 0); last += 1) {
        const next = index.span(last + 1);
        // A step may begin before those that lie within it.
        const earlier = Math.min(start, next.start);
        if (next.end - earlier > PARSED_TOGETHER) break;
        start = earlier;
      }
      const end = index.span(last).end;
      const data = end - start <= PARSED_TOGETHER ? await this.bytes.read(start, end) : undefined;
      for (let step = first; step <= last; step += 1) await this.learnStep(step, data, start);
      this.moved();
      await this.giveWay();
    }
    if (this.provisional) index.learn(index.length - 1, await this.load(index.length - 1, false));
  }

  private async learnStep(step: number, data: Buffer | undefined, base: number): Promise<void> {
    const span = this.index.span(step);
    const { placed, problem } = await this.parsed(span, data, base);
    const described = describeEvents(placed.map(({ event }) => event), problem);
    if (described.label === DAMAGED) this.problems.push(`step ${step} is damaged: ${described.title}`);
    this.index.learn(step, described);
    this.count(described);
    if (described.kind === 'message' || described.model || described.calls) this.messages.add(placed);
  }

  private count({ tokens, cost }: Described): void {
    if (tokens) {
      this.sums.tokens = true;
      this.sums.prompt += tokens.prompt ?? 0;
      this.sums.completion += tokens.completion ?? 0;
      this.sums.cached += tokens.cached ?? 0;
    }
    if (cost !== undefined) {
      this.sums.costs = true;
      this.sums.cost += cost;
    }
  }
}

function linesIn(data: Buffer, span: Span, base: number): Span[] {
  const lines: Span[] = [];
  for (let start = span.start; start < span.end; ) {
    const newline = data.indexOf(10, start - base);
    const end = newline < 0 ? span.end : Math.min(span.end, newline + base);
    if (end > start) lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

const DAMAGED = 'damaged';

/** The step that these events make; other events may lie between them. */
function describeEvents(events: readonly TraceEvent[], problem: unknown): Described {
  // What lies in the midst of a step that goes on is told by a step of its own.
  const last = events.findLast(({ type }) => events.length === 1 || (type !== 'note' && type !== 'network'));
  try {
    if (last?.type === 'message') return describeMessage(last);
    if (last?.type === 'reward') return describeReward(last);
    if (last?.type === 'note') return describeNote(last);
    if (last?.type === 'network') return describeNetwork(last);
    if (last) {
      const made: StepEvents = {
        models: events.filter((event): event is ModelEvent => event.type === 'model'),
        begin: events.findLast((event): event is BeginEvent => event.type === 'begin'),
        step: events.find((event): event is StepEvent => event.type === 'step'),
      };
      return describeStep(made);
    }
  } catch (error) {
    problem = error;
  }
  const error = messageOf(problem ?? 'nothing in it can be read');
  return { label: DAMAGED, source: 'system', kind: 'error', title: `this step cannot be read: ${error}`, error: 'damaged' };
}
