import type { TraceViewState } from '../../src/protocol/traceView.js';
import { vscodeApi } from '../vscodeApi.js';

/** Where the reader is: what comes back after the page was hidden or the window reloaded. */
export interface ViewState {
  /** Which of the file's traces, where it holds several. */
  readonly member?: number;
  readonly step?: number;
  /** Whether the step is shown as it stands in the file. */
  readonly raw: boolean;
  /** Share of the room that the list has beside (or above) the step. */
  readonly split: number;
  /** What was searched for, while the search is open. */
  readonly find?: string;
  /** Times the usual speed. */
  readonly speed: number;
}

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const;

const INITIAL: ViewState = { raw: false, split: 0.3, speed: 1 };

/** What is kept: where the reader was, on which page, and when. */
interface Kept {
  readonly view: ViewState;
  readonly page: string;
  readonly at: number;
}

function keptIn(value: unknown): Kept | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { view, page, at } = value as Partial<Record<keyof Kept, unknown>>;
  return typeof view === 'object' && view !== null && typeof page === 'string' && typeof at === 'number' ? { view: viewIn(view), page, at } : undefined;
}

/** What this page has kept last. */
let own = keptIn(vscodeApi.getState());
/** A page that comes back is the same one: two views of a file have a place each. */
const page = own?.page ?? crypto.randomUUID();

export const restoreState = (): ViewState => own?.view ?? INITIAL;

/** What the extension has kept of the file, if this page has kept it and VS Code had not yet saved it when the window went. */
export function newerState(text: string): ViewState | undefined {
  try {
    const kept = keptIn(JSON.parse(text));
    return kept && (!own || (kept.page === page && kept.at > own.at)) ? kept.view : undefined;
  } catch {
    return undefined;
  }
}

/** As far as it makes sense now. */
function viewIn(view: Partial<ViewState>): ViewState {
  const count = (value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined);
  return {
    member: count(view.member),
    step: count(view.step),
    raw: view.raw === true,
    split: typeof view.split === 'number' && view.split >= 0.15 && view.split <= 0.85 ? view.split : INITIAL.split,
    find: typeof view.find === 'string' ? view.find : undefined,
    speed: SPEEDS.find((speed) => speed === view.speed) ?? INITIAL.speed,
  };
}

/** Keeps the state for `restoreState`, with what the extension finds the trace by. The answer is for the extension to keep. */
export function keepState(trace: string, view: ViewState): string {
  own = { view, page, at: Date.now() };
  vscodeApi.setState({ trace, ...own } satisfies TraceViewState & Kept);
  return JSON.stringify(own);
}
