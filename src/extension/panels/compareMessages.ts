/** What the page that compares two runs may send. Knows nothing of VS Code. */
import type { CompareViewRequests, CompareViewState, PairKind, PairSortKey, PairsQuery } from '../../protocol/compareView.js';
import { isCount, isNothing, isOneOf, isPlain, messageParser } from './parse.js';

/** Two runs of a folder. */
export interface RunPair {
  readonly root: string;
  readonly a: string;
  readonly b: string;
}

const SORT_KEYS: readonly PairSortKey[] = ['seed', 'a', 'b', 'delta'];
const KINDS: readonly PairKind[] = ['better', 'same', 'worse', 'unpaired'];
const MOST_ROWS = 1000;

const isPairsQuery = (value: unknown): value is PairsQuery =>
  isPlain(value) && (value.kind === undefined || isOneOf(value.kind, KINDS)) && isOneOf(value.sort, SORT_KEYS) && typeof value.descending === 'boolean' && isCount(value.start) && isCount(value.count) && value.count <= MOST_ROWS;

const isEpisode = (value: unknown): boolean => value === null || isCount(value);

export const parseCompareMessage = messageParser<CompareViewRequests>({
  comparison: isNothing,
  pairs: isPairsQuery,
  openEpisodes: (params) => isPlain(params) && isEpisode(params.a) && isEpisode(params.b),
  openRun: (params) => isPlain(params) && isOneOf(params.which, ['a', 'b']),
  swap: isNothing,
});

/** What the page kept, if it is what it should have kept. */
export function restoredPair(state: unknown): RunPair | undefined {
  try {
    const { root, a, b } = JSON.parse((state as CompareViewState).runs) as Partial<RunPair>;
    return typeof root === 'string' && typeof a === 'string' && typeof b === 'string' ? { root, a, b } : undefined;
  } catch {
    return undefined;
  }
}
