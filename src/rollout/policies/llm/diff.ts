/** What an edit did to a file, as one hunk of a unified diff: from the first line that changed to the last one, with what stands around. */
import type { FileChange } from '../../../trace/model.js';

const CONTEXT = 3;
/** A longer diff is a file of its own, and nobody reads it. */
const LONGEST = 64 * 1024;

export function changeOf(path: string, before: string | undefined, after: string): FileChange {
  const [a, b] = [lines(before ?? ''), lines(after)];
  let start = 0;
  let [endA, endB] = [a.length, b.length];
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
  const [from, to] = [Math.max(0, start - CONTEXT), Math.min(a.length, endA + CONTEXT)];
  const change = { path, change: before === undefined ? 'added' : 'modified', added: endB - start, removed: endA - start } as const;
  if (change.added === 0 && change.removed === 0) return change;
  const hunk = [
    ...a.slice(from, start).map((line) => ` ${line}`),
    ...a.slice(start, endA).map((line) => `-${line}`),
    ...b.slice(start, endB).map((line) => `+${line}`),
    ...a.slice(endA, to).map((line) => ` ${line}`),
  ];
  const toB = to - endA + endB;
  const range = (first: number, last: number) => `${last > first ? first + 1 : first},${last - first}`;
  const diff = [`--- ${before === undefined ? '/dev/null' : path}`, `+++ ${path}`, `@@ -${range(from, to)} +${range(from, toB)} @@`, ...hunk, ''].join('\n');
  return diff.length > LONGEST ? change : { ...change, diff };
}

/** A last line feed opens no further line. */
const lines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
