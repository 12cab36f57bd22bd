/**
 * Stands in for VS Code and the extension, inside the page: answers the trace view's requests over a made-up trace, with the project's own
 * check of what the page sends. Tests steer it through `window.traceStub`.
 */
import { parseTraceMessage } from '../../../src/extension/panels/traceMessages.js';
import type { Message } from '../../../src/extension/panels/parse.js';
import type { SearchHit, StepDetail, TraceHead, TraceViewNotifications, TraceViewRequests } from '../../../src/protocol/traceView.js';
import { type MadeTrace, type Story, madeTrace } from './generate.js';
import { standIn } from '../standIn.js';

export interface TraceStubOptions {
  readonly story?: Story;
  readonly steps?: number;
  /** Steps that are there when the page opens; the episode is running. */
  readonly begun?: number;
  readonly start?: number;
  readonly head?: Partial<TraceHead>;
  /** Takes the place of what was made up for a step. */
  readonly details?: Readonly<Record<number, Partial<StepDetail>>>;
  readonly show?: { step?: number };
  /** VS Code has not yet saved what the page kept when its window goes. */
  readonly unsaved?: boolean;
}

type Request = Message<TraceViewRequests>;

declare global {
  interface Window {
    traceStub: TraceStub;
  }
}

class TraceStub {
  /** What the page asked for, in order. */
  readonly requests: Request[] = [];
  /** Set by a test: requests of these names are answered with an error. */
  readonly failing = new Map<string, string>();
  readonly #options: TraceStubOptions;
  readonly #trace: MadeTrace;
  readonly #total: number;
  #steps: number;
  #pending = false;
  #changed = false;
  #search = 0;

  constructor(options: TraceStubOptions) {
    this.#options = options;
    this.#total = options.steps ?? 12;
    this.#steps = options.begun ?? this.#total;
    this.#trace = madeTrace(options.story ?? 'repair', this.#total);
  }

  /** That many more steps are there; the last one is going on. */
  grow(count: number, pending = false): void {
    this.#steps = Math.min(this.#total, this.#steps + count);
    this.#pending = pending;
    this.#changed = true;
  }

  notify<K extends keyof TraceViewNotifications>(method: K, params: TraceViewNotifications[K]): void {
    this.#post({ method, params });
  }

  #post(message: object): void {
    setTimeout(() => window.postMessage(structuredClone(message), '*'), 1);
  }

  receive(value: unknown): void {
    const parsed = parseTraceMessage(value);
    if (!parsed.ok) throw new Error(`The page sent what is not of the protocol: ${JSON.stringify(value)}`);
    const { message } = parsed;
    this.requests.push(message);
    const failure = this.failing.get(message.method);
    if (failure !== undefined) this.#post({ id: message.id, error: failure });
    else void Promise.resolve(this.#answer(message)).then((result) => this.#post({ id: message.id, result }), (error: unknown) => this.#post({ id: message.id, error: String(error) }));
  }

  #head(): TraceHead {
    const live = this.#steps < this.#total;
    const head = { ...this.#trace.head(this.#steps), ...(live && { live: true, reward: undefined, end: { status: 'unknown' as const } }), ...this.#options.head };
    return JSON.parse(JSON.stringify(head)) as TraceHead;
  }

  #detail(index: number): StepDetail {
    return { ...this.#trace.step(index), ...(this.#pending && index === this.#steps - 1 && { pending: true, calls: undefined }), ...this.#options.details?.[index] };
  }

  #answer({ method, params }: Request): unknown {
    const { head, start = 5, show } = this.#options;
    switch (method) {
      case 'ready': return { head: { ...this.#head(), ...(params.member !== undefined && head?.members && { members: { ...head.members, selected: params.member } }) }, start: Math.min(start, this.#steps - 1), ...(show && { show }), ...(sessionStorage.getItem(KEPT) !== null && { kept: sessionStorage.getItem(KEPT)! }) } satisfies TraceViewRequests['ready']['result'];
      case 'keep': sessionStorage.setItem(KEPT, params.state); return null;
      case 'refresh': {
        const changed = this.#changed;
        this.#changed = false;
        return changed ? this.#head() : null;
      }
      case 'summaries': return Array.from({ length: Math.min(params.to, this.#steps) - params.from }, (_, at) => {
        const index = params.from + at;
        const { title, error, depth, kind } = { ...this.#trace.summary(index), ...this.#options.details?.[index] };
        return { ...this.#trace.summary(index), title, error, depth, kind, ...(this.#pending && index === this.#steps - 1 && { pending: true }) };
      });
      case 'step': return this.#detail(params.step);
      case 'raw': {
        const text = JSON.stringify({ type: 'step', ...this.#detail(params.step) });
        return { text, bytes: new TextEncoder().encode(text).length };
      }
      case 'blob': return picture(params.ref);
      case 'timeline': return this.#trace.timeline(params.bins, this.#steps);
      case 'nextError': {
        for (let index = params.from + params.direction; index >= 0 && index < this.#steps; index += params.direction) if (this.#detail(index).error !== undefined) return index;
        return null;
      }
      case 'search': return this.#find(params);
      case 'endSearch': this.#search = -1; return null;
      default: return null;
    }
  }

  async #find({ search, text }: TraceViewRequests['search']['params']): Promise<TraceViewRequests['search']['result']> {
    this.#search = search;
    const needle = text.toLowerCase();
    let found = 0;
    let hits: SearchHit[] = [];
    const flush = () => {
      if (hits.length > 0) this.notify('hits', { search, hits });
      hits = [];
    };
    for (let index = 0; index < this.#steps && found < 5000; index++) {
      const line = JSON.stringify(this.#detail(index));
      const at = line.toLowerCase().indexOf(needle);
      if (at >= 0) {
        hits.push({ step: index, text: line.slice(Math.max(0, at - 40), at + needle.length + 80), start: Math.min(40, at), end: Math.min(40, at) + needle.length });
        found++;
      }
      if (index % 200 !== 199) continue;
      flush();
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (this.#search !== search) return { hits: found, complete: false };
    }
    flush();
    return { hits: found, complete: found < 5000 };
  }
}

/** A cart with a pole, as a PNG. */
async function picture(ref: string): Promise<Uint8Array> {
  const index = Number(/\d+/.exec(ref)?.[0] ?? 0);
  const canvas = new OffscreenCanvas(600, 400);
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 600, 400);
  context.strokeStyle = '#000';
  context.beginPath();
  context.moveTo(0, 300.5);
  context.lineTo(600, 300.5);
  context.stroke();
  const x = 300 + 60 * Math.sin(index / 15);
  context.fillStyle = '#000';
  context.fillRect(x - 30, 285, 60, 30);
  context.translate(x, 290);
  context.rotate(Math.sin(index / 9) / 5);
  context.fillStyle = '#ca9865';
  context.fillRect(-5, -120, 10, 125);
  return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
}

const KEPT = 'trace-stub-kept';
const options = (window as unknown as { __stubOptions: TraceStubOptions }).__stubOptions;
const stub = (window.traceStub = new TraceStub(options));
standIn(stub, 'trace-stub-state', options.unsaved);
