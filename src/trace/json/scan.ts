/** Finds values in JSON of any size by their paths, without parsing what lies around them. */
import { windows, type Bytes, type Span } from '../bytes.js';
import { parseJson } from './tolerant.js';

/** A value that was found. `indexes` are those of the lists on the way to it. */
export interface Found extends Span {
  readonly indexes: readonly number[];
  readonly key: string | number;
  readonly type: 'object' | 'list' | 'scalar';
  /** Of a scalar that is not long: what it is. */
  readonly value?: unknown;
}

export interface Visitor {
  /** Whether values inside the container at this path are wanted. */
  enter(path: readonly (string | number)[]): boolean;
  /** A value inside a container that was entered, the value at the top included (with an empty path). */
  found(path: readonly (string | number)[], value: Found): void;
}

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...Buffer.from('"\\,:[]{}')] as [number, number, number, number, number, number, number, number];
const SCALAR = 4096;

interface Frame {
  readonly list: boolean;
  readonly start: number;
  key: string | number;
  /** In an object: the next string is a key. */
  expectsKey: boolean;
}

/** Takes any bytes in any pieces; what is no JSON gives no error, only fewer values. Containers that are not entered cost no memory, however deep. */
export class JsonScanner {
  private readonly frames: Frame[] = [];
  private readonly path: (string | number)[] = [];
  /** Depth within a container that is not entered. */
  private skipped = 0;
  private skippedStart = 0;
  private inString = false;
  private escaped = false;
  private scalarStart = -1;
  private captured: Buffer[] = [];
  private capturedBytes = 0;
  /** The value at the top has ended, where. */
  endedAt: number | undefined;

  constructor(private readonly visitor: Visitor) {}

  /** `base` is the offset of the first byte. Stops after the value at the top. */
  feed(data: Buffer, base: number): void {
    let from = this.scalarStart >= 0 ? 0 : -1;
    for (let at = 0; at < data.length && this.endedAt === undefined; at += 1) {
      const byte = data[at]!;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) {
          this.inString = false;
          if (this.skipped === 0) {
            this.capture(data, from, at + 1);
            this.scalar(base + at + 1);
            from = -1;
          }
        }
        continue;
      }
      if (this.skipped > 0) {
        if (byte === QUOTE) this.inString = true;
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.skipped += 1;
        else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && (this.skipped -= 1) === 0) this.tell(this.skippedStart, base + at + 1, byte === CLOSE_LIST ? 'list' : 'object');
        continue;
      }
      const breaks = byte <= 32 || byte === COMMA || byte === COLON || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
      if (this.scalarStart >= 0) {
        if (!breaks) continue;
        this.capture(data, from, at);
        this.scalar(base + at);
        from = -1;
        if (this.endedAt !== undefined) return;
      }
      if (byte <= 32) continue;
      const frame = this.frames.at(-1);
      if (byte === COLON) {
        if (frame) frame.expectsKey = false;
      } else if (byte === COMMA) {
        if (frame?.list) frame.key = (frame.key as number) + 1;
        else if (frame) frame.expectsKey = true;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (!frame) continue;
        this.frames.pop();
        this.path.length = Math.max(0, this.frames.length - 1);
        this.tell(frame.start, base + at + 1, frame.list ? 'list' : 'object');
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        if (frame) this.path[this.frames.length - 1] = frame.key;
        this.path.length = this.frames.length;
        if (this.visitor.enter(this.path)) this.frames.push({ list: byte === OPEN_LIST, start: base + at, key: byte === OPEN_LIST ? 0 : '', expectsKey: byte === OPEN_OBJECT });
        else {
          this.skipped = 1;
          this.skippedStart = base + at;
        }
      } else {
        this.scalarStart = base + at;
        this.inString = byte === QUOTE;
        from = at;
      }
    }
    if (from >= 0) this.capture(data, from, data.length);
  }

  /** After the last byte: ends a number that nothing followed; whether the value at the top is whole. */
  finish(size: number): boolean {
    if (this.scalarStart >= 0 && !this.inString && this.frames.length === 0) this.scalar(size);
    return this.endedAt !== undefined;
  }

  private capture(data: Buffer, from: number, to: number): void {
    const wanted = Math.min(to - from, SCALAR + 1 - this.capturedBytes);
    if (from < 0 || wanted <= 0) return;
    this.captured.push(Buffer.from(data.subarray(from, from + wanted)));
    this.capturedBytes += wanted;
  }

  private scalar(end: number): void {
    const start = this.scalarStart;
    let value: unknown;
    if (this.capturedBytes <= SCALAR)
      try {
        value = parseJson(Buffer.concat(this.captured).toString('utf8'));
      } catch {
        value = undefined;
      }
    this.scalarStart = -1;
    this.captured = [];
    this.capturedBytes = 0;
    const frame = this.frames.at(-1);
    if (frame?.expectsKey) frame.key = typeof value === 'string' ? value : '';
    else this.tell(start, end, 'scalar', value);
  }

  private tell(start: number, end: number, type: Found['type'], value?: unknown): void {
    const frame = this.frames.at(-1);
    if (frame) this.path[this.frames.length - 1] = frame.key;
    this.path.length = this.frames.length;
    this.visitor.found(this.path, { start, end, type, value, key: frame?.key ?? '', indexes: this.frames.length ? this.path.filter((name) => typeof name === 'number') : [] });
    if (!frame) this.endedAt = end;
  }
}

/** Where the values lie that match patterns such as `steps.*`, `steps.*.source`, `info.exit_status`; `*` is any key or index. */
export class Outline {
  private readonly matches = new Map<string, Found[]>();
  /** Whether the value ended before the range did. */
  whole = false;
  /** End of the value at the top. */
  end: number | undefined;

  static async of(bytes: Bytes, span: Span, patterns: readonly string[], signal?: AbortSignal): Promise<Outline> {
    const outline = new Outline();
    const parts = patterns.map((pattern) => (pattern === '' ? [] : pattern.split('.')));
    for (const pattern of patterns) outline.matches.set(pattern, []);
    const fits = (pattern: readonly string[], path: readonly (string | number)[]): boolean => path.every((name, at) => pattern[at] === '*' || (typeof name === 'string' && pattern[at] === name));
    const scanner = new JsonScanner({
      enter: (path) => parts.some((pattern) => pattern.length > path.length && fits(pattern, path)),
      found: (path, value) => {
        for (const [at, pattern] of parts.entries()) if (pattern.length === path.length && fits(pattern, path)) outline.matches.get(patterns[at]!)!.push(value);
      },
    });
    for await (const { at, data } of windows(bytes, span, { signal })) {
      scanner.feed(data, at);
      if (scanner.endedAt !== undefined) break;
    }
    outline.whole = scanner.finish(span.end);
    outline.end = scanner.endedAt;
    return outline;
  }

  all(pattern: string): readonly Found[] {
    return this.matches.get(pattern) ?? [];
  }

  /** The first value that matches: itself if it is a scalar. */
  value(pattern: string): unknown {
    return this.all(pattern)[0]?.value;
  }

  text(pattern: string): string | undefined {
    const value = this.value(pattern);
    return typeof value === 'string' ? value : undefined;
  }

  number(pattern: string): number | undefined {
    const value = this.value(pattern);
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  }
}
