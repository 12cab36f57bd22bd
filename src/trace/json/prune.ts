/** JSON values of any size, read with bounded memory: long strings, long lists and deep nesting are cut, and it is said where. */
import { windows, type Bytes, type Span } from '../bytes.js';
import { parseJson } from './tolerant.js';

const U = 0x75;
const WHOLE = 8 << 20;
const BUDGET = 4 << 20;
const STRING = 256 << 10;
const DEPTH = 200;

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...Buffer.from('"\\,:[]{}')] as [number, number, number, number, number, number, number, number];

export interface Read {
  readonly value: unknown;
  /** Bytes of the value that were left out, with a mark in their place. */
  readonly cut: number;
}

export interface ReadOptions {
  /** Lists under these keys come out empty. */
  readonly drop?: ReadonlySet<string>;
  /** The range holds elements of a list, commas between them: they come out as a list. */
  readonly elements?: boolean;
  /** Up to how many bytes nothing is cut. */
  readonly whole?: number;
}

/** Parses the value that lies in a range. Throws a `SyntaxError` where it is no JSON. */
export async function readJson(bytes: Bytes, span: Span, { drop, elements = false, whole = WHOLE }: ReadOptions = {}): Promise<Read> {
  const size = span.end - span.start;
  const wrap = (text: string): string => (elements ? `[${text}]` : text);
  if (size <= whole && !drop) return { value: parseJson(wrap((await bytes.read(span.start, span.end)).toString('utf8'))), cut: 0 };
  const pruner = new Pruner(drop, size <= whole ? Infinity : STRING);
  let ended = false;
  if (elements) pruner.feed(Buffer.from('['));
  for await (const { data } of windows(bytes, span)) if ((ended = pruner.feed(data))) break;
  if (elements && !ended) pruner.feed(Buffer.from(']'));
  return { value: parseJson(pruner.text()), cut: Math.max(0, size - pruner.kept) };
}

/** A filter of bytes: what comes out is JSON again if what goes in is. */
class Pruner {
  private readonly pieces: Buffer[] = [];
  private written = 0;
  /** Bytes of the input that were passed on. */
  kept = 0;
  private readonly open: number[] = [];
  private inString = false;
  private escaped = false;
  /** Hexadecimal digits of an escape that are still to come. */
  private digits = 0;
  private stringBytes = 0;
  private cutBytes = 0;
  /** The last string that was read, as far as a key is long; and whether a colon followed it. */
  private word: number[] = [];
  private key = '';
  /** Depth of a container that is left out, while it is. */
  private skipping: number | undefined;
  private depth = 0;
  private ended = false;

  constructor(
    private readonly drop: ReadonlySet<string> | undefined,
    private readonly longest: number,
  ) {}

  /** Whether enough was read. */
  feed(data: Buffer): boolean {
    let from = 0;
    const flush = (to: number): void => {
      if (to > from) {
        this.pieces.push(Buffer.from(data.subarray(from, to)));
        this.written += to - from;
        this.kept += to - from;
      }
      from = to;
    };
    for (let at = 0; at < data.length; at += 1) {
      const byte = data[at]!;
      if (this.inString) {
        const ends = byte === QUOTE && !this.escaped;
        if (this.skipping === undefined) {
          if (ends && this.cutBytes) {
            from = at;
            this.write(`… [${this.cutBytes} bytes left out]`);
          } else if (!ends && (this.cutBytes || (this.stringBytes >= this.longest && !this.escaped && this.digits === 0 && (byte & 0xc0) !== 0x80))) {
            if (!this.cutBytes) flush(at);
            this.cutBytes += 1;
            from = at + 1;
          }
          if (this.word.length < 64 && !ends) this.word.push(byte);
        }
        this.stringBytes += 1;
        if (this.digits > 0) this.digits -= 1;
        else if (this.escaped && byte === U) this.digits = 4;
        this.escaped = byte === BACKSLASH && !this.escaped;
        if (ends) this.inString = false;
        continue;
      }
      if (byte === QUOTE) {
        this.inString = true;
        this.escaped = false;
        this.digits = 0;
        this.stringBytes = 0;
        this.cutBytes = 0;
        this.word = [];
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.depth += 1;
        if (this.skipping === undefined && (this.depth > DEPTH || (byte === OPEN_LIST && this.drop?.has(this.key)))) {
          flush(at);
          this.write(this.depth > DEPTH ? '"… [nested too deep]"' : '[]');
          this.skipping = this.depth;
        } else if (this.skipping === undefined) this.open.push(byte);
        this.key = '';
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (this.skipping === this.depth) {
          this.skipping = undefined;
          from = at + 1;
        } else if (this.skipping === undefined) this.open.pop();
        this.depth -= 1;
      } else if (this.skipping === undefined) {
        if (byte === COLON) this.key = Buffer.from(this.word).toString('utf8');
        else if (byte === COMMA) {
          this.key = '';
          if (this.longest !== Infinity && this.written + at - from > BUDGET) {
            flush(at);
            this.ended = true;
            return true;
          }
        }
      }
    }
    if (this.skipping === undefined && !(this.inString && this.cutBytes)) flush(data.length);
    return false;
  }

  text(): string {
    const closers = this.ended ? this.open.reverse().map((byte) => (byte === OPEN_LIST ? ', "… [the rest is left out]"]' : ', "…": "[the rest is left out]"}')) : [];
    return Buffer.concat(this.pieces).toString('utf8') + closers.join('');
  }

  private write(text: string): void {
    const piece = Buffer.from(text);
    this.pieces.push(piece);
    this.written += piece.length;
  }
}
