/** Files of JSON lines where each line is a trace of its own. */
import type { FileBytes, Span } from '../bytes.js';
import type { DocumentHead, DocumentReader } from '../document.js';
import { Outline } from '../json/scan.js';
import { eachLine } from '../lines.js';
import { titleOf } from '../text.js';
import { memberOf, type OpenOptions } from './format.js';

const MOST_NAMES = 1000;
/** Bytes of lines that are gone through for what their traces are called. */
const NAMED_BYTES = 32 << 20;

/** Where lines lie: eight bytes for each. */
class LineIndex {
  count = 0;
  private starts = new Float64Array(64);

  static async of(bytes: FileBytes, signal?: AbortSignal): Promise<LineIndex> {
    const index = new LineIndex();
    const range = { start: 0, end: bytes.size };
    const rest = await eachLine(bytes, range, 1, ({ start, end }) => void (end > start && index.add(start)), signal);
    if (rest < bytes.size) index.add(rest);
    index.add(bytes.size + 1);
    index.count -= 1;
    return index;
  }

  span(index: number): Span {
    return { start: this.starts[index]!, end: this.starts[index + 1]! - 1 };
  }

  private add(start: number): void {
    if (this.count === this.starts.length) {
      const larger = new Float64Array(this.count * 2);
      larger.set(this.starts);
      this.starts = larger;
    }
    this.starts[this.count] = start;
    this.count += 1;
  }
}

export interface LineFormat {
  /** What one of them is called: `rollout`, `conversation`. */
  readonly what: string;
  /** Patterns for `name` and `read`. */
  readonly patterns: readonly string[];
  /** Those of them that say what a line is called. */
  readonly naming: readonly string[];
  name(line: Outline, index: number): string;
  read(file: string, bytes: FileBytes, line: Outline, members: Pick<DocumentHead, 'members'>, index: number): Promise<DocumentReader> | DocumentReader;
}

/** One JSON document, whether on one line or many, is a file with one trace. */
export async function openLine(format: LineFormat, file: string, bytes: FileBytes, more: boolean, options: OpenOptions): Promise<DocumentReader> {
  const { signal } = options;
  const whole = { start: 0, end: bytes.size };
  const lines = more ? await LineIndex.of(bytes, signal) : { count: 1, span: () => whole };
  const selected = memberOf(lines.count, format.what, options);
  const names: string[] = [];
  for (let index = 0, read = 0; lines.count > 1 && index < Math.min(lines.count, MOST_NAMES); index += 1) {
    const span = lines.span(index);
    read += span.end - span.start;
    if (read > NAMED_BYTES) break;
    names.push(titleOf(format.name(await Outline.of(bytes, span, ['', ...format.naming], signal), index), 120));
  }
  const outline = await Outline.of(bytes, lines.span(selected), ['', ...format.patterns], signal);
  const reader = await format.read(file, bytes, outline, lines.count > 1 ? { members: { selected, names, total: lines.count } } : {}, selected);
  if (!outline.whole || outline.all('')[0]?.type !== 'object') reader.problem(lines.count > 1 ? `line ${selected + 1} of those with content is damaged: its last part is not shown` : 'the file ends in the middle: its last part is not shown');
  reader.hold(bytes);
  return reader.ready();
}

export const baseName = (file: string): string => file.split(/[\\/]/).at(-1)!.replace(/\.jsonl?$/, '');
