/** Requests by name, each with its parameters and its result. */
export type RequestMap<R> = { readonly [K in keyof R]: { params: unknown; result: unknown } };

/** The extension answered with an error, or did not answer in time. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

/** Carries messages to and from the extension. */
export interface Port {
  post(message: { readonly id: number; readonly method: string; readonly params: unknown }): void;
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

/** Sends a page's requests and matches the answers to them. `R`: the requests of its protocol, `N`: the notifications that come of themselves. */
export class RpcClient<R extends RequestMap<R>, N> {
  readonly #port: Port;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners: { [K in keyof N]?: (params: N[K]) => void } = {};
  #lastId = 0;

  constructor(port: Port) {
    this.#port = port;
    port.listen((message) => this.#receive(message));
  }

  /** @throws RequestError if the extension says so or is silent; the signal's reason if it is aborted. */
  request<K extends keyof R & string>(method: K, params: R[K]['params'], { signal, timeoutMs = TIMEOUT_MS }: RequestOptions = {}): Promise<R[K]['result']> {
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
          resolve(result);
        },
        reject: (error) => {
          finish();
          reject(error);
        },
      });
      this.#port.post({ id, method, params });
    });
  }

  /** Calls back with each notification of this name; the last listener holds. */
  on<K extends keyof N>(method: K, listener: (params: N[K]) => void): void {
    this.#listeners[method] = listener;
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params, result, error } = message as { id?: unknown; method?: unknown; params?: unknown; result?: unknown; error?: unknown };
    if (typeof method === 'string' && Object.hasOwn(this.#listeners, method) && typeof params === 'object' && params !== null) this.#listeners[method as keyof N]?.(params as N[keyof N]);
    if (typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    if (typeof error === 'string') pending?.reject(new RequestError(error));
    else pending?.resolve(result);
  }
}
