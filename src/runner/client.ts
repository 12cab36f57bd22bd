/** The typed side of a connection to the runner. */
import { CancellationTokenSource, ConnectionError, ErrorCodes, ResponseError, type CancellationToken, type Disposable, type MessageConnection } from 'vscode-jsonrpc/node.js';
import type { CallerRequests, RunnerErrorData, RunnerNotifications, RunnerRequests } from './api.js';

export interface RequestOptions {
  /** Cancels the request in the runner, and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** An error answer of the runner, with what its data says. */
export class RunnerError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly problems: RunnerErrorData['problems'];
  readonly output: string | undefined;
  constructor(message: string, data: Partial<RunnerErrorData> = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RunnerError';
    this.code = data.code ?? 'Error';
    this.hint = data.hint;
    this.problems = data.problems;
    this.output = data.output;
  }
}

export class RunnerClient {
  constructor(private readonly connection: MessageConnection) {}

  /** Rejects with `RunnerError`, or with the signal's reason. A connection that closes rejects with code `ConnectionClosed`. */
  async request<K extends keyof RunnerRequests>(method: K, params: RunnerRequests[K]['params'], { signal }: RequestOptions = {}): Promise<RunnerRequests[K]['result']> {
    signal?.throwIfAborted();
    const cancellation = new CancellationTokenSource();
    const cancel = () => cancellation.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await this.connection.sendRequest<RunnerRequests[K]['result']>(method, params, cancellation.token);
    } catch (error) {
      signal?.throwIfAborted();
      throw toRunnerError(error);
    } finally {
      signal?.removeEventListener('abort', cancel);
      cancellation.dispose();
    }
  }

  on<K extends keyof RunnerNotifications>(method: K, handler: (params: RunnerNotifications[K]) => void): Disposable {
    return this.connection.onNotification(method, handler);
  }

  /** Answers what the runner asks of whoever asked it. */
  answer<K extends keyof CallerRequests>(method: K, handler: (params: CallerRequests[K]['params'], signal: AbortSignal) => CallerRequests[K]['result'] | Promise<CallerRequests[K]['result']>): Disposable {
    return this.connection.onRequest(method, async (params: CallerRequests[K]['params'], token: CancellationToken) => {
      const controller = new AbortController();
      const subscription = token.onCancellationRequested(() => controller.abort(new Error('the request was cancelled')));
      try {
        return await handler(params, controller.signal);
      } finally {
        subscription.dispose();
      }
    });
  }
}

function toRunnerError(error: unknown): RunnerError {
  if (error instanceof ResponseError) {
    if (error.code === Number(ErrorCodes.PendingResponseRejected)) return new RunnerError('the engine stopped before it answered', { code: 'ConnectionClosed' }, { cause: error });
    return new RunnerError(error.message, error.data as Partial<RunnerErrorData> | undefined, { cause: error });
  }
  if (error instanceof ConnectionError) return new RunnerError('the engine is not running', { code: 'ConnectionClosed' }, { cause: error });
  return new RunnerError(error instanceof Error ? error.message : String(error), undefined, { cause: error });
}
