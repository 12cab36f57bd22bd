/** YAML text to plain values, with the place of each of them kept. Nothing here knows what a template is. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml';
import { composeYaml } from './compose.js';
import { formatPath, quoteName, quoteValue, type DocumentPath } from './text.js';

/** Lines and columns count from 1; a column is a UTF-16 unit, as in VS Code. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface Place {
  readonly key?: readonly [start: number, end: number];
  readonly value: readonly [start: number, end: number];
}

/** A finding about the text itself, at offsets. */
export interface TextFinding {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** Values that aliases may add: far beyond any template, far below what makes a machine slow. */
const MAX_ALIASED_VALUES = 10_000;
const MAX_CHARACTER_FINDINGS = 20;

export class YamlDocument {
  readonly findings: TextFinding[] = [];
  /** Plain value of the document: maps have no prototype. */
  readonly value: unknown;
  /** Whether `value` holds all that was written: false if the text is not YAML or an alias stands for nothing. */
  readonly complete: boolean;
  private readonly places = new Map<string, Place>();
  private readonly lines = new LineCounter();

  constructor(private readonly text: string) {
    this.findings.push(...controlCharacters(text));
    for (let start = 0; start >= 0; start = text.indexOf('\n', start) + 1 || -1) this.lines.addNewLine(start);
    const { document, findings } = composeYaml(text);
    this.findings.push(...findings);
    if (!document) {
      this.complete = false;
      return;
    }
    const reader = new Reader(text, this.lines, this.places, this.findings);
    this.value = reader.read(document.contents, []).value;
    this.complete = reader.complete;
  }

  /** Position of offsets, held inside the text and on the first line of what they span. */
  position(start: number, end: number): Position {
    const from = Math.min(Math.max(start, 0), this.text.length);
    const lineEnd = this.text.indexOf('\n', from);
    let to = Math.max(from, Math.min(end, lineEnd < 0 ? this.text.length : lineEnd));
    while (to > from && /\s/.test(this.text[to - 1]!)) to--;
    const { line, col } = this.lines.linePos(from);
    return { line, column: col, endLine: line, endColumn: col + to - from };
  }

  /** Position of a key or a value; of the nearest thing around it if it is not written. */
  locate(path: string, at: 'key' | 'value' = 'value'): Position {
    const place = this.nearestPlace(path);
    if (!place) return this.position(0, this.text.length);
    const [start, end] = place.value;
    const emptyOrLong = start === end || this.text.slice(start, end).trimEnd().includes('\n');
    const range = place.key && (at === 'key' || emptyOrLong || place !== this.places.get(path)) ? place.key : place.value;
    return this.position(range[0], range[1]);
  }

  /** Whether a path is written, be it with nothing behind it. */
  has(path: string): boolean {
    return this.places.has(path);
  }

  /** A value as it was written, without what follows it. */
  written(path: DocumentPath): string | undefined {
    const place = this.places.get(formatPath(path));
    return place && this.text.slice(...place.value).trim();
  }

  private nearestPlace(path: string): Place | undefined {
    for (let rest = path; rest; rest = rest.slice(0, Math.max(0, rest.search(/(\.[^.[]*|\[\d*\]?)$/)))) {
      const place = this.places.get(rest);
      if (place) return place;
    }
    return this.places.get('');
  }
}

/** Turns nodes into values in the order of the text, so that an alias means the last anchor before it. */
class Reader {
  private readonly anchors = new Map<string, { value: unknown; size: number; open: boolean }>();
  private aliased = 0;
  complete = true;

  constructor(private readonly text: string, private readonly lines: LineCounter, private readonly places: Map<string, Place>, private readonly findings: TextFinding[]) {}

  /** The value, and how many values it is made of, aliases counted in full. */
  read(node: Node | null, path: DocumentPath, key?: readonly [number, number]): { value: unknown; size: number } {
    const range: readonly [number, number] = node?.range ? [node.range[0], node.range[1]] : (key ?? [0, 0]);
    this.places.set(formatPath(path), { key, value: range });
    if (!node) return { value: null, size: 1 };
    if (isAlias(node)) return this.readAlias(node.source, range);
    const anchor = (isMap(node) || isSeq(node) || isScalar(node)) && node.anchor;
    const entry = { value: undefined as unknown, size: 1, open: true };
    if (anchor) this.anchors.set(anchor, entry);
    if (isScalar(node)) entry.value = node.value;
    else if (isSeq(node)) {
      const list: unknown[] = [];
      node.items.forEach((item, index) => {
        const read = this.read(item as Node | null, [...path, index]);
        list.push(read.value);
        entry.size += read.size;
      });
      entry.value = list;
    } else if (isMap(node)) {
      const map = Object.create(null) as Record<string, unknown>;
      const seen = new Map<string, number>();
      for (const pair of node.items) {
        const at = pair.key as Node | null;
        const keyRange: readonly [number, number] = at?.range ? [at.range[0], at.range[1]] : range;
        const name = this.keyName(at, keyRange, seen);
        if (name === undefined) continue;
        const read = this.read(pair.value as Node | null, [...path, name], keyRange);
        map[name] = read.value;
        entry.size += read.size;
      }
      entry.value = map;
    }
    entry.open = false;
    return entry;
  }

  private readAlias(name: string, range: readonly [number, number]): { value: unknown; size: number } {
    const entry = this.anchors.get(name);
    if (!entry) return this.refuse(range, `unknown alias ${quoteName(name)}: expected one of the anchors above it`);
    if (entry.open) return this.refuse(range, `the alias ${quoteName(name)} is inside of what it stands for`);
    const before = this.aliased;
    this.aliased += entry.size;
    if (this.aliased <= MAX_ALIASED_VALUES) return entry;
    if (before <= MAX_ALIASED_VALUES) this.report(range, `aliases add more than ${MAX_ALIASED_VALUES} values: expected a few`);
    this.complete = false;
    return { value: undefined, size: 0 };
  }

  private keyName(node: Node | null, range: readonly [number, number], seen: Map<string, number>): string | undefined {
    if (!node || !isScalar(node) || node.value === null) {
      this.report(range, 'expected a name as key');
      return undefined;
    }
    const name = typeof node.value === 'string' ? node.value : this.text.slice(...range);
    if (name === '<<' && node.type === 'PLAIN') this.report(range, 'merge keys (`<<`) are not supported: write the keys out');
    else if (name === '__proto__') this.report(range, 'the key "__proto__" is not allowed');
    else if (seen.has(name)) this.report(range, `duplicate key ${quoteName(name)}: it is already on line ${this.lines.linePos(seen.get(name)!).line}`);
    else {
      seen.set(name, range[0]);
      return name;
    }
    return undefined;
  }

  private report([start, end]: readonly [number, number], message: string): void {
    this.findings.push({ start, end, message });
  }

  private refuse(range: readonly [number, number], message: string): { value: unknown; size: number } {
    this.report(range, message);
    this.complete = false;
    return { value: undefined, size: 1 };
  }
}

/** Characters that YAML does not allow, and that a terminal or an editor may act on. */
function controlCharacters(text: string): TextFinding[] {
  const findings: TextFinding[] = [];
  for (const match of text.matchAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g)) {
    findings.push({ start: match.index, end: match.index + 1, message: `expected text, found the character ${quoteValue(match[0])}` });
    if (findings.length === MAX_CHARACTER_FINDINGS) break;
  }
  return findings;
}
