/**
 * Where in a template a cursor stands, told from the indentation alone: while someone types the document is seldom YAML. Block style only;
 * inside flow style (`{a: 1}`) and inside block scalars there is no answer. Knows nothing of VS Code.
 */
import type { SchemaPath } from '../../template/complete.js';

export interface Cursor {
  /** Path of the map or list that the cursor is in. */
  readonly path: SchemaPath;
  /** The key on the cursor's line, if it has one. */
  readonly key?: string;
  /** Whether the cursor is behind the key's colon. */
  readonly inValue: boolean;
  /** Keys of the same map on other lines. */
  readonly siblings: readonly string[];
  /** Value of the sibling `type`, or of `name` in a policy, which chooses among kinds of rewards or of policies. */
  readonly type?: string;
}

interface Line {
  /** Columns of the dashes that open list entries. */
  readonly dashes: readonly number[];
  /** Column of the key, or of whatever else the line begins with. */
  readonly column: number;
  readonly key?: string;
  /** Column behind the colon. */
  readonly valueColumn: number;
  readonly value: string;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([A-Za-z_][\w.-]*))\s*:(?=\s|$)/;

function readLine(text: string): Line {
  const dashes: number[] = [];
  let column = /^ */.exec(text)![0].length;
  for (let match; (match = /^-(?: +|$)/.exec(text.slice(column))); column += match[0].length) dashes.push(column);
  const rest = text.slice(column);
  const match = KEY.exec(rest);
  const valueColumn = column + (match?.[0].length ?? 0);
  const value = (match ? text.slice(valueColumn) : rest).replace(/(^|\s)#.*$/, '').trim();
  return { dashes, column, key: match ? (match[1] ?? match[2] ?? match[3]) : undefined, valueColumn, value };
}

const isBlank = (text: string): boolean => /^\s*(#.*)?$/.test(text);
const opensScalar = ({ value }: Line): boolean => /^[|>][-+\d]*$/.test(value);

/** `line` and `column` count from 0. Undefined where nothing can be said. */
export function cursorAt(lines: readonly string[], line: number, column: number): Cursor | undefined {
  const text = lines[line] ?? '';
  if (/(^|\s)#/.test(text.slice(0, column))) return undefined;
  const own = readLine(isBlank(text) ? text.slice(0, column) : text);
  const inValue = own.key !== undefined && column >= own.valueColumn;
  if (/[{[]/.test(text.slice(own.valueColumn, column))) return undefined;
  const around = pathAbove(lines, line, own);
  if (!around) return undefined;
  const siblings = siblingsOf(lines, line, own);
  const { key } = own;
  const kind = around.at(-1) === 'policy' ? 'name' : 'type';
  return { path: around, ...(key !== undefined && { key }), inValue, siblings: [...siblings.keys()], ...(siblings.has(kind) && { type: siblings.get(kind) }) };
}

function pathAbove(lines: readonly string[], line: number, own: Line): SchemaPath | undefined {
  const path: (string | number)[] = [];
  /** A key to the left of this column holds what was found so far. */
  let limit = own.column;
  /** The list that was entered last, and how many entries it has above. */
  let list: { column: number; index: number } | undefined;
  const close = () => {
    if (list) path.unshift(list.index);
    list = undefined;
  };
  const enter = (dashes: readonly number[]) => {
    for (const dash of [...dashes].reverse()) {
      if (list?.column === dash) list.index += 1;
      else if (dash < (list?.column ?? limit)) {
        close();
        list = { column: dash, index: 0 };
        // The key of a list may stand in the same column as its dashes.
        limit = dash + 1;
      }
    }
  };
  enter(own.dashes);
  for (let above = line - 1; above >= 0 && (limit > 0 || list); above -= 1) {
    const text = lines[above]!;
    if (isBlank(text)) continue;
    const read = readLine(text);
    if (read.key !== undefined && read.column < limit && read.dashes.every((dash) => dash !== list?.column)) {
      if (opensScalar(read)) return undefined;
      close();
      path.unshift(read.key);
      limit = read.column;
    } else if (read.dashes.length === 0 && read.column < limit && read.key === undefined) continue;
    enter(read.dashes);
  }
  close();
  return path;
}

/** Keys of the map that a line belongs to, with their values; without the line itself. */
function siblingsOf(lines: readonly string[], line: number, own: Line): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (step: number) => {
    if (step < 0 && own.dashes.length > 0) return;
    for (let at = line + step; at >= 0 && at < lines.length; at += step) {
      if (isBlank(lines[at]!)) continue;
      const read = readLine(lines[at]!);
      const start = read.dashes[0] ?? read.column;
      if (step > 0 && start < own.column) return;
      if (read.column === own.column && read.key !== undefined) found.set(read.key, read.value.replace(/^["']|["']$/g, ''));
      if (step < 0 && start < own.column) return;
    }
  };
  visit(-1);
  visit(1);
  return found;
}
