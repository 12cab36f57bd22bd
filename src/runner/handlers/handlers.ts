/** What handlers of requests are and are given. A file for each subject; `index.ts` puts them together. */
import type { Engine } from '../../engine/engine.js';
import type { RunnerNotifications, RunnerRequests } from '../api.js';

/** One request that is being answered. */
export interface Call {
  /** Aborts when whoever asks cancels the request. */
  readonly signal: AbortSignal;
}

export type Handlers = {
  readonly [K in keyof RunnerRequests]: (params: RunnerRequests[K]['params'], call: Call) => Promise<RunnerRequests[K]['result']>;
};

/** The part of all handlers that one file answers for. */
export type HandlersOf<K extends keyof RunnerRequests> = Pick<Handlers, K>;

export interface Services {
  /** The engine of a workspace folder, opened on first use. */
  engine(root: string, call: Call): Promise<Engine>;
  /** Tells all who look at the folder that something changed; coalesced. */
  changed(root: string, kind: RunnerNotifications['changed']['kind'], id?: string): void;
  /** Tells all who look at the folder. */
  notify<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K] & { readonly root: string }): void;
  /** Cancels what runs and ends every sandbox. */
  close(): Promise<void>;
}
