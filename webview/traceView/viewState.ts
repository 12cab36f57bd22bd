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

/** What was kept, as far as it makes sense now. */
export function restoreState(): ViewState {
  const kept = vscodeApi.getState();
  const view = (typeof kept === 'object' && kept !== null && 'view' in kept ? kept.view : undefined) as Partial<ViewState> | undefined;
  if (typeof view !== 'object' || view === null) return INITIAL;
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

/** Keeps the state for `restoreState`, with what the extension finds the trace by. */
export function keepState(trace: string, view: ViewState): void {
  vscodeApi.setState({ trace, view } satisfies TraceViewState & { view: ViewState });
}
