/** How a trace is found again: by a link in an issue or a chat, by what its page kept. Knows nothing of VS Code. */
import { isAbsolute, join, relative, sep } from 'node:path';
import type { TraceDiffState, TracePair } from '../protocol/traceDiff.js';
import type { TraceRef, TraceViewState } from '../protocol/traceView.js';

export interface TraceLink extends TraceRef {
  readonly step?: number;
}

const PATH = '/trace';

/** `rl-sandboxes.rl-sandboxes/trace?file=...&step=12`, to be put behind the scheme of the VS Code that is used. A file of the workspace is named from its folder. */
export function linkAddress(extension: string, { file, member, step }: TraceLink, roots: readonly string[]): string {
  const root = roots.find((folder) => isInside(folder, file));
  const query = new URLSearchParams({ file: root === undefined ? file : relative(root, file).split(sep).join('/') });
  if (member !== undefined) query.set('member', String(member));
  if (step !== undefined) query.set('step', String(step));
  // Spaces as `%20`: a `+` in a query is a plus sign to VS Code.
  return `${extension}${PATH}?${query.toString().replaceAll('+', '%20')}`;
}

/** The places that a link may mean, the likeliest first; none if it is no such link. `query` as it came, still encoded or not. */
export function readLink(path: string, query: string, roots: readonly string[]): readonly TraceLink[] {
  if (path !== PATH) return [];
  const fields = new URLSearchParams(query.replaceAll('+', '%2B'));
  const file = fields.get('file');
  if (!file || file.includes('\0')) return [];
  const member = count(fields.get('member'));
  const step = count(fields.get('step'));
  const more = { ...(member !== undefined && { member }), ...(step !== undefined && { step }) };
  const files = isAbsolute(file) ? [file] : roots.map((root) => join(root, file));
  return files.map((each) => ({ file: each, ...more }));
}

/** Whether a path, as it is written, lies below a folder. Links on disk are the caller's to resolve first. */
export function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..';
}

function count(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** What the page kept, if it is what it should have kept. */
export function restoredTrace(state: unknown): TraceRef | undefined {
  try {
    const { file, member } = JSON.parse((state as TraceViewState).trace) as Partial<TraceRef>;
    return typeof file === 'string' && isAbsolute(file) && (member === undefined || count(String(member)) === member) ? { file, ...(member !== undefined && { member }) } : undefined;
  } catch {
    return undefined;
  }
}

/** What a page that compares two traces kept, if it is what it should have kept. */
export function restoredTraces(state: unknown): TracePair | undefined {
  try {
    const { a, b } = JSON.parse((state as TraceDiffState).traces) as Partial<TracePair>;
    const [traceA, traceB] = [restoredTrace({ trace: JSON.stringify(a) }), restoredTrace({ trace: JSON.stringify(b) })];
    return traceA && traceB && { a: traceA, b: traceB };
  } catch {
    return undefined;
  }
}
