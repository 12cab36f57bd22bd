/** What a webview sends is taken for hostile: only what matches the protocol gets through. Knows nothing of VS Code. */
import type { RowsQuery, RunViewRequests, RunViewState, SortKey, ToExtension } from '../../protocol/runView.js';
import type { RunRef } from '../views/node.js';

const SORT_KEYS: readonly SortKey[] = ['finish', 'episode', 'seed', 'sample', 'status', 'reward', 'steps', 'time', 'cause'];
const OUTPUTS = ['stdout', 'stderr', 'verifier', 'record'] as const;
const ACTIONS: readonly RunViewRequests['action']['params']['action'][] = ['rerun', 'rerunFailed', 'resume', 'cancel', 'export', 'reveal', 'openTemplate'];
/** A page of rows is what fits on a screen, several times over. */
const MOST_ROWS = 1000;
const LONGEST_TEXT = 4096;

type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_TEXT;
const isOneOf = <T>(value: unknown, known: readonly T[]): value is T => known.includes(value as T);

const isRowsQuery = (value: unknown): value is RowsQuery =>
  isPlain(value) && isText(value.filter) && isOneOf(value.sort, SORT_KEYS) && typeof value.descending === 'boolean' && isCount(value.start) && isCount(value.count) && value.count <= MOST_ROWS;

/** One check for each request, or this does not compile. */
const CHECKS: { readonly [K in keyof RunViewRequests]: (params: unknown) => boolean } = {
  ready: (params) => params === undefined || params === null,
  snapshot: (params) => params === undefined || params === null,
  rows: isRowsQuery,
  episode: (params) => isPlain(params) && isCount(params.episode),
  open: (params) => isPlain(params) && isCount(params.episode) && (params.artifact === undefined ? isOneOf(params.what, OUTPUTS) : isText(params.artifact) && params.what === undefined),
  action: (params) => isPlain(params) && isOneOf(params.action, ACTIONS),
};

export type Parsed = { readonly ok: true; readonly message: ToExtension } | { readonly ok: false; readonly id?: number };

/** `id` of what is refused, where it has one, so that it can be answered. */
export function parseMessage(value: unknown): Parsed {
  if (!isPlain(value)) return { ok: false };
  const { id, method, params } = value;
  if (!isCount(id)) return { ok: false };
  if (typeof method !== 'string' || !Object.hasOwn(CHECKS, method)) return { ok: false, id };
  const known = method as keyof RunViewRequests;
  return CHECKS[known](params) ? { ok: true, message: { id, method: known, params } as ToExtension } : { ok: false, id };
}

/** What the page kept, if it is what it should have kept. */
export function restoredRun(state: unknown): RunRef | undefined {
  try {
    const { root, id } = JSON.parse((state as RunViewState).run) as Partial<RunRef>;
    return typeof root === 'string' && typeof id === 'string' ? { root, id } : undefined;
  } catch {
    return undefined;
  }
}
