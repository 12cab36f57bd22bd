/** What the run view may send. Knows nothing of VS Code. */
import { MOST_SELECTED } from '../../protocol/runView.js';
import type { GroupSortKey, GroupsQuery, RowsQuery, RunViewRequests, RunViewState, SortKey } from '../../protocol/runView.js';
import type { RunRef } from '../views/node.js';
import { isCount, isNothing, isOneOf, isPlain, isText, messageParser } from './parse.js';

const SORT_KEYS: readonly SortKey[] = ['finish', 'episode', 'seed', 'sample', 'status', 'reward', 'advantage', 'steps', 'time', 'cause'];
const GROUP_SORT_KEYS: readonly GroupSortKey[] = ['seed', 'mean', 'std', 'solved'];
const OUTPUTS = ['stdout', 'stderr', 'verifier', 'record', 'trace'] as const;
const ACTIONS: readonly RunViewRequests['action']['params']['action'][] = ['rerun', 'rerunFailed', 'resume', 'cancel', 'compare', 'reveal', 'openTemplate'];
/** A page of rows is what fits on a screen, several times over. */
const MOST_ROWS = 1000;

const isEpisodes = (value: unknown): value is readonly number[] => Array.isArray(value) && value.length > 0 && value.length <= MOST_SELECTED && value.every(isCount);

const isRowsQuery = (value: unknown): value is RowsQuery =>
  isPlain(value) && isText(value.filter) && isOneOf(value.sort, SORT_KEYS) && typeof value.descending === 'boolean' && isCount(value.start) && isCount(value.count) && value.count <= MOST_ROWS;

const isGroupsQuery = (value: unknown): value is GroupsQuery =>
  isPlain(value) && isOneOf(value.sort, GROUP_SORT_KEYS) && typeof value.descending === 'boolean' && isCount(value.start) && isCount(value.count) && value.count <= MOST_ROWS;

const isArtifact = (params: unknown): boolean => isPlain(params) && isCount(params.episode) && isText(params.artifact);

export const parseMessage = messageParser<RunViewRequests>({
  ready: isNothing,
  snapshot: isNothing,
  rows: isRowsQuery,
  groups: isGroupsQuery,
  episode: (params) => isPlain(params) && isCount(params.episode),
  open: (params) => isPlain(params) && isCount(params.episode) && (params.artifact === undefined ? isOneOf(params.what, OUTPUTS) : isText(params.artifact) && params.what === undefined),
  artifact: isArtifact,
  compareArtifact: isArtifact,
  saveArtifacts: (params) => isPlain(params) && isCount(params.episode),
  export: (params) => isPlain(params) && (params.where === undefined || isText(params.where)) && (params.episodes === undefined || isEpisodes(params.episodes)),
  compareEpisodes: (params) => isPlain(params) && isCount(params.a) && isCount(params.b),
  action: (params) => isPlain(params) && isOneOf(params.action, ACTIONS),
});

/** What the page kept, if it is what it should have kept. */
export function restoredRun(state: unknown): RunRef | undefined {
  try {
    const { root, id } = JSON.parse((state as RunViewState).run) as Partial<RunRef>;
    return typeof root === 'string' && typeof id === 'string' ? { root, id } : undefined;
  } catch {
    return undefined;
  }
}
