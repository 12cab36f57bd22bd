/** Readers of formats whose steps are values of JSON: each format says where they lie and what each means. */
import type { Bytes, Span } from './bytes.js';
import { readJson } from './json/prune.js';
import type { BlobRef, StepDetail, StepKind, Tokens, TraceHead } from './model.js';
import { messageOf, StepReader, type Segment } from './stepReader.js';

export type Described = Omit<StepDetail, 'index'>;

/** What a mapper may ask for besides the value. */
export interface MapContext {
  readonly index: number;
  /** Whether the request of a model call is wanted, which may be all that was said before. */
  readonly full: boolean;
  /** Gives the name of an image that stands in the value itself, in base64. */
  inline(mediaType: string, base64: string): BlobRef;
}

/** Makes a step of what stands in the file: of one value, or of a list where elements were taken together. */
export type Mapper = (value: unknown, context: MapContext) => Described | Promise<Described>;

interface MappedSegment extends Segment {
  readonly map: Mapper;
  readonly elements: boolean;
  range: { start: number; end: number };
}

export type DocumentHead = Omit<TraceHead, 'steps' | 'problems' | 'live' | 'indexed'> & { readonly live?: boolean };

export interface PlannedStep extends Span {
  readonly bytes: Bytes;
  readonly map: Mapper;
  /** Several elements of a list are this step. */
  readonly elements?: boolean;
  readonly kind?: StepKind;
}

/** Lists of token ids are many times what people read of a trace. */
const TOKEN_LISTS: ReadonlySet<string> = new Set(['prompt_token_ids', 'completion_token_ids', 'token_ids', 'logprobs', 'mask', 'prompt_ids', 'response_ids', 'prompt_logprobs', 'generation_token_ids', 'generation_log_probs']);

const INLINE = /^inline:(\d+):(\d+)$/;
const INLINE_WHOLE = 96 << 20;
const MOST_PROBLEMS = 50;

export class DocumentReader extends StepReader {
  private readonly parts: MappedSegment[] = [];
  private readonly held = new Set<Bytes>();
  private blobs: ((ref: string) => Promise<Uint8Array>) | undefined;
  private readonly sums = { prompt: 0, completion: 0, cached: 0, cost: 0, reward: 0, tokens: false, costs: false, rewards: false, unknown: false };

  /** `sumRewards`: the reward of the whole is the sum of those of its steps. `refersElsewhere`: texts of steps lie outside them. */
  constructor(
    private readonly about: DocumentHead,
    private readonly options: { readonly sumRewards?: boolean; readonly refersElsewhere?: boolean } = {},
  ) {
    super();
  }

  add({ bytes, start, end, map, elements = false, kind = 'message' }: PlannedStep): void {
    const last = this.parts.at(-1);
    if (last && last.bytes === bytes && last.map === map && last.elements === elements && last.range.end <= start) last.range.end = end;
    else this.parts.push({ first: this.index.length, bytes, map, elements, range: { start, end } });
    this.held.add(bytes);
    this.index.add(start, end, kind);
  }

  /** Closes these bytes, too, when it is closed. */
  hold(bytes: Bytes): void {
    this.held.add(bytes);
  }

  problem(sentence: string): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(sentence);
  }

  /** What names of images and long texts mean, besides those of the steps. */
  withBlobs(read: (ref: string) => Promise<Uint8Array>): void {
    this.blobs = read;
  }

  /** All steps have been added. */
  ready(): this {
    this.background = this.learnAll().finally(() => this.moved());
    this.background.catch(() => undefined);
    return this;
  }

  head(): Promise<TraceHead> {
    const { about, sums, index } = this;
    const known = index.known >= index.length;
    const tokens: Tokens | undefined = sums.tokens && known ? { prompt: sums.prompt, completion: sums.completion, ...(sums.cached && { cached: sums.cached }) } : undefined;
    return Promise.resolve({
      live: false,
      ...(tokens && { tokens }),
      ...(sums.costs && known && { cost: sums.cost }),
      ...(this.options.sumRewards && { reward: known && sums.rewards && !sums.unknown ? sums.reward : null }),
      ...about,
      steps: index.length,
      problems: this.problems,
      ...(!known && { indexed: index.known / index.length }),
    });
  }

  refresh(): Promise<boolean> {
    return Promise.resolve(false);
  }

  override async close(): Promise<void> {
    this.closing.abort(new Error('the trace was closed'));
    await this.background.catch(() => undefined);
    for (const bytes of this.held) await bytes.close();
  }

  protected get complete(): boolean {
    return true;
  }

  protected override get refersElsewhere(): boolean {
    return this.options.refersElsewhere ?? false;
  }

  protected segments(): readonly Segment[] {
    return this.parts;
  }

  protected async values(index: number): Promise<readonly unknown[]> {
    return [(await this.read(index)).value];
  }

  protected async load(index: number, full: boolean): Promise<StepDetail> {
    return this.describe(index, full, await this.read(index), () => undefined);
  }

  protected async readBlob(ref: string): Promise<Uint8Array> {
    const match = INLINE.exec(ref);
    if (!match) {
      if (!this.blobs) throw new Error('the trace has no such part');
      return this.blobs(ref);
    }
    let found: string | undefined;
    const index = Number(match[1]);
    await this.describe(index, false, await this.read(index, INLINE_WHOLE), (nth, base64) => {
      if (nth === Number(match[2])) found = base64;
    });
    if (found === undefined) throw new Error('the step has no such image');
    return new Uint8Array(Buffer.from(found, 'base64'));
  }

  private read(index: number, whole?: number): Promise<{ value: unknown; cut: number }> {
    const segment = this.segmentOf(index) as MappedSegment;
    return readJson(segment.bytes, this.index.span(index), { drop: TOKEN_LISTS, elements: segment.elements, whole });
  }

  private async describe(index: number, full: boolean, { value, cut }: { value: unknown; cut: number }, image: (nth: number, base64: string) => void): Promise<StepDetail> {
    let images = 0;
    const context: MapContext = {
      index,
      full,
      inline: (mediaType, base64) => {
        image(images, base64);
        return { blob: `inline:${index}:${images++}`, mediaType, bytes: Math.floor((base64.length * 3) / 4) };
      },
    };
    const described = await (this.segmentOf(index) as MappedSegment).map(value, context);
    return { index, ...described, ...(cut && { info: described.info ?? { note: `${cut} bytes of this step are not shown` } }) };
  }

  protected override learned({ tokens, cost, reward, kind }: StepDetail): void {
    if (typeof reward === 'number') {
      this.sums.rewards = true;
      this.sums.reward += reward;
    } else if (kind !== 'reset') this.sums.unknown = true;
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

  protected override unreadable(index: number, error: unknown): void {
    this.problem(`step ${index} cannot be read: ${messageOf(error)}`);
  }
}
