/**
 * Stands in for VS Code and the extension, inside the page: answers the requests of the comparison over a made-up trace and a changed copy of it, with the
 * project's own check of what the page sends. Tests look at it through `window.diffStub`.
 */
import type { Message } from '../../../src/extension/panels/parse.js';
import { parseTraceDiffMessage } from '../../../src/extension/panels/traceDiffMessages.js';
import type { AlignedRow, Side, TraceDiffRequests } from '../../../src/protocol/traceDiff.js';
import type { StepDetail, TraceHead } from '../../../src/protocol/traceView.js';
import { type MadeTrace, madeTrace } from '../traceView/generate.js';
import { standIn } from '../standIn.js';

export interface DiffStubOptions {
  readonly steps?: number;
  /** Rows of the alignment; those of a trace with a changed copy if absent. */
  readonly rows?: readonly AlignedRow[];
  readonly head?: Partial<TraceHead>;
  readonly compared?: { readonly a: number; readonly b: number };
}

type Request = Message<TraceDiffRequests>;

declare global {
  interface Window {
    diffStub: DiffStub;
  }
}

const same = (a: number, b = a, differs: AlignedRow['differs'] = []): AlignedRow => ({ a, b, differs });

/** Of 12 steps: another observation, another action, a step that only a has, the same at the end, another reward. */
const STORY: readonly AlignedRow[] = [same(0), same(1), same(2), same(3, 3, ['observation']), same(4), same(5), same(6, 6, ['action', 'observation']), { a: 7, b: null, differs: [] }, same(8, 7), same(9, 8), same(10, 9), same(11, 10, ['reward'])];

class DiffStub {
  /** What the page asked for, in order. */
  readonly requests: Request[] = [];
  /** Set by a test: requests of these names are answered with an error. */
  readonly failing = new Map<string, string>();
  readonly #options: DiffStubOptions;
  readonly #trace: MadeTrace;
  readonly #rows: readonly AlignedRow[];

  constructor(options: DiffStubOptions) {
    this.#options = options;
    const steps = options.steps ?? 12;
    this.#trace = madeTrace('repair', steps);
    this.#rows = options.rows ?? (steps === 12 ? STORY : Array.from({ length: steps }, (_, index) => same(index, index, index % 1000 === 500 ? ['action'] : [])));
  }

  receive(value: unknown): void {
    const parsed = parseTraceDiffMessage(value);
    if (!parsed.ok) throw new Error(`The page sent what is not of the protocol: ${JSON.stringify(value)}`);
    const { message } = parsed;
    this.requests.push(message);
    const failure = this.failing.get(message.method);
    const answer = failure === undefined ? { id: message.id, result: this.#answer(message) } : { id: message.id, error: failure };
    setTimeout(() => window.postMessage(structuredClone(answer), '*'), 1);
  }

  /** Where the two part, b looks before it edits. */
  #step(side: Side, index: number): StepDetail {
    const at = side === 'b' && index >= 7 ? index + 1 : index;
    const step = this.#trace.step(at);
    const row = this.#rows.find((each) => each[side] === index);
    if (side === 'a' || !row?.differs.includes('action')) return { ...step, index, label: String(index) };
    return { ...step, index, label: String(index), title: 'bash: git diff --stat', calls: [{ name: 'bash', arguments: { command: 'git diff --stat' }, result: [{ type: 'terminal', text: ' src/interval.py | 4 +++-\n 1 file changed\n' }], exitCode: 0 }] };
  }

  #head(side: Side): TraceHead {
    const { steps = 12, head } = this.#options;
    return { ...this.#trace.head(steps), ...head, title: side === 'a' ? 'code-repair #3, episode 17' : 'code-repair #4, episode 17', steps: side === 'b' && steps === 12 ? 11 : steps, ...(side === 'b' && { reward: 1, end: { status: 'completed' } }) };
  }

  #answer({ method, params }: Request): unknown {
    const rows = this.#rows;
    const other = ({ a, b, differs }: AlignedRow) => a === null || b === null || differs.includes('action');
    const different = (row: AlignedRow) => other(row) || row.differs.length > 0;
    const place = (index: number) => (index < 0 ? null : index);
    switch (method) {
      case 'comparison': {
        const heads = { a: this.#head('a'), b: this.#head('b') };
        const compared = this.#options.compared ?? { a: heads.a.steps, b: heads.b.steps };
        return { heads, rows: rows.length, different: rows.filter(different).length, first: place(rows.findIndex(different)), firstAction: place(rows.findIndex(other)), compared } satisfies TraceDiffRequests['comparison']['result'];
      }
      case 'rows': return rows.slice(params.from, params.to).map((row) => ({ ...row, summaries: { a: row.a === null ? null : this.#step('a', row.a), b: row.b === null ? null : this.#step('b', row.b) } }));
      case 'nextDifference': {
        const counts = params.actions ? other : different;
        for (let at = params.from + params.direction; at >= 0 && at < rows.length; at += params.direction) if (counts(rows[at]!) && (at === 0 || !counts(rows[at - 1]!))) return at;
        return null;
      }
      case 'step': return this.#step(params.side, params.step);
      case 'blob': return new Uint8Array();
      default: return null;
    }
  }
}

const stub = (window.diffStub = new DiffStub((window as unknown as { __stubOptions: DiffStubOptions }).__stubOptions));
standIn(stub, 'diff-stub-state');
