/** What handlers of requests are and are given. A file for each subject; `index.ts` puts them together. */
import type { Engine } from '../../engine/engine.js';
import type { Traces } from '../../engine/traces.js';
import type { RunnerNotifications, RunnerRequests, RunnerStatus, RunPlace, Work } from '../api.js';
import type { Session } from '../session.js';

/** One request that is being answered. */
export interface Call {
  readonly session: Session;
  /** Aborts when whoever asks cancels the request. */
  readonly signal: AbortSignal;
}

export type Handlers = {
  readonly [K in Exclude<keyof RunnerRequests, 'hello'>]: (params: RunnerRequests[K]['params'], call: Call) => Promise<RunnerRequests[K]['result']>;
};

/** The part of all handlers that one file answers for. */
export type HandlersOf<K extends keyof Handlers> = Pick<Handlers, K>;

export interface Services {
  readonly traces: Traces;
  /** The engine of a workspace folder, opened on first use, as the caller of the request sees it. */
  engine(root: string, call: Call): Promise<Engine>;
  /** Tells all who look at the folder that something changed; coalesced. */
  changed(root: string, kind: RunnerNotifications['changed']['kind'], id?: string): void;
  /** Tells all who look at the folder. */
  notify<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K] & { readonly root: string }): void;
  /** Takes note of what a session looks at. */
  look(session: Session): void;
  /** What a runner that died left to resume in these folders, told once. */
  takeInterrupted(roots: readonly string[]): Promise<readonly RunPlace[]>;
  status(): Promise<RunnerStatus>;
  retire(): Work;
  /** Cancels what runs and ends every sandbox, then the process. Resolves before the latter. */
  shutdown(): Promise<void>;
}
