import type { RunViewRequestName, RunViewRequests, RunViewTarget, ToExtension } from '../src/protocol/runView.js';

/** The extension answered with an error, or did not answer in time. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

/** Carries messages to and from the extension. */
export interface Port {
  post(message: ToExtension): void;
  /** Calls `receive` with every message that arrives. */
  listen(receive: (message: unknown) => void): void;
}

export interface RequestOptions {
  /** Drops the request: the answer, when it comes, is ignored. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the request fails. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Sends the run view's requests and matches the answers to them. */
export class RunViewClient {
  /** Called when the run has changed. */
  onChanged: (revision: number) => void = () => undefined;
  /** Called when a person asked, elsewhere, for something to be shown. */
  onShow: (target: RunViewTarget) => void = () => undefined;
  readonly #port: Port;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(port: Port) {
    this.#port = port;
    port.listen((message) => this.#receive(message));
  }

  /** @throws RequestError if the extension says so or is silent; the signal's reason if it is aborted. */
  request<K extends RunViewRequestName>(
    method: K,
    params: RunViewRequests[K]['params'],
    { signal, timeoutMs = TIMEOUT_MS }: RequestOptions = {},
  ): Promise<RunViewRequests[K]['result']> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const id = ++this.#lastId;
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(id);
      };
      const onAbort = () => {
        finish();
        reject(signal!.reason);
      };
      const timer = setTimeout(() => {
        finish();
        reject(new RequestError(`no answer within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      signal?.addEventListener('abort', onAbort);
      this.#pending.set(id, {
        resolve: (result) => {
          finish();
          resolve(result as RunViewRequests[K]['result']);
        },
        reject: (error) => {
          finish();
          reject(error);
        },
      });
      this.#port.post({ id, method, params } as ToExtension);
    });
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params, result, error } = message as { id?: unknown; method?: unknown; params?: { revision?: unknown } & RunViewTarget; result?: unknown; error?: unknown };
    if (method === 'changed' && typeof params?.revision === 'number') this.onChanged(params.revision);
    if (method === 'show' && params) this.onShow(params);
    if (typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    if (typeof error === 'string') pending?.reject(new RequestError(error));
    else pending?.resolve(result);
  }
}
