import type { RunViewState, SortKey } from '../../src/protocol/runView.js';
import { vscodeApi } from '../vscodeApi.js';

export const TABS = ['output', 'reward', 'artifacts', 'timing'] as const;
export type Tab = (typeof TABS)[number];
export const GROUPINGS = ['none', 'cause', 'status', 'seed'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Where the reader is: what comes back after the page was hidden or the window reloaded. */
export interface ViewState {
  readonly filter: string;
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly grouping: Grouping;
  readonly charts: boolean;
  /** Episode in the pane. */
  readonly selected?: number;
  readonly tab: Tab;
  /** Share of the room that the table has beside (or above) the pane. */
  readonly split: number;
  /** Of the table, in pixels. */
  readonly scrollTop: number;
}

const INITIAL: ViewState = { filter: '', sort: 'finish', descending: false, grouping: 'none', charts: true, tab: 'output', split: 0.55, scrollTop: 0 };
const SORTS: readonly SortKey[] = ['finish', 'episode', 'seed', 'sample', 'status', 'reward', 'advantage', 'steps', 'time', 'cause'];

/** What was kept, as far as it makes sense now. */
export function restoreState(): ViewState {
  const kept = vscodeApi.getState();
  const view = (typeof kept === 'object' && kept !== null && 'view' in kept ? kept.view : undefined) as Partial<ViewState> | undefined;
  if (typeof view !== 'object' || view === null) return INITIAL;
  const within = <T,>(value: unknown, allowed: readonly T[], otherwise: T) => (allowed.includes(value as T) ? (value as T) : otherwise);
  const number = (value: unknown, low: number, high: number, otherwise: number) => (typeof value === 'number' && value >= low && value <= high ? value : otherwise);
  return {
    filter: typeof view.filter === 'string' ? view.filter : '',
    sort: within(view.sort, SORTS, INITIAL.sort),
    descending: view.descending === true,
    grouping: within(view.grouping, GROUPINGS, INITIAL.grouping),
    charts: view.charts !== false,
    selected: typeof view.selected === 'number' ? view.selected : undefined,
    tab: within(view.tab, TABS, INITIAL.tab),
    split: number(view.split, 0.15, 0.85, INITIAL.split),
    scrollTop: number(view.scrollTop, 0, Number.MAX_SAFE_INTEGER, 0),
  };
}

/** Keeps the state for `restoreState`, with what the extension finds the run by. */
export function keepState(run: string, view: ViewState): void {
  vscodeApi.setState({ run, view } satisfies RunViewState & { view: ViewState });
}
