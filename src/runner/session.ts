/** One connection to the runner, from its first byte to its last: who it is, what it looks at, what it may ask. */
import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { CancellationTokenSource, ErrorCodes, ResponseError, type CancellationToken, type MessageConnection } from 'vscode-jsonrpc/node';
import { keysIn, relevant, type Caller } from '../engine/caller.js';
import type { CallerRequests, Hello, RunnerNotifications, Welcome } from './api.js';
import { toResponseError } from './errors.js';
import { overSocket } from './wire.js';

/** Until a connection has said who it is. */
const HELLO_MS = 5000;
const HELLO_BYTES = 256 << 10;
const VARIABLES_MS = 10_000;

export interface SessionOptions {
  readonly token: string;
  readonly welcome: Welcome;
  readonly log: (level: 'info' | 'warn', message: string) => void;
  /** Answers a request of a caller that has shown the token. */
  readonly answer: (session: Session, method: string, params: unknown, signal: AbortSignal) => Promise<unknown>;
  readonly onOpen: (session: Session, hello: Hello) => void;
  /** Called once, also for one that never opened. */
  readonly onClose: (session: Session) => void;
  /** Values that must not be written anywhere. */
  readonly onSecrets: (values: readonly string[]) => void;
}

export class Session {
  /** Folders that it shows, and whether a person can see them now. */
  readonly roots = new Map<string, boolean>();
  caller: Caller | undefined;
  /** Aborts when the connection has ended. */
  readonly closed: AbortSignal;
  private readonly connection: MessageConnection;
  private who = 'somebody';

  constructor(
    private readonly socket: Socket,
    private readonly options: SessionOptions,
  ) {
    const late = setTimeout(() => this.refuse('it did not say who it is'), HELLO_MS);
    const closing = new AbortController();
    this.closed = closing.signal;
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > HELLO_BYTES) this.refuse('it sent too much before it said who it is');
    };
    socket.on('data', count);
    socket.on('error', (error) => options.log('info', `connection of ${this.who}: ${error.message}`));
    socket.once('close', () => {
      clearTimeout(late);
      this.connection.dispose();
      closing.abort(new Error('the connection has ended'));
      options.onClose(this);
    });
    this.connection = overSocket(socket);
    // What cannot be read as a message is followed by more of the same.
    this.connection.onError(([error]) => this.refuse(error.message));
    this.connection.onUnhandledNotification(() => this.caller ?? this.refuse('its first message was no request'));
    this.connection.onRequest(async (method: string, params: unknown, token: CancellationToken) => {
      if (this.caller) return this.answer(method, params, token);
      clearTimeout(late);
      socket.off('data', count);
      return method === 'hello' && this.authenticate(params as Hello) ? options.welcome : this.refuse('it does not know the token');
    });
    this.connection.listen();
  }

  /** Keys in these variables are in no log from now on. */
  hide(environment: Readonly<Record<string, string>>): void {
    this.options.onSecrets(keysIn(environment));
  }

  /** From now on it asks with these variables. */
  use(environment: Readonly<Record<string, string>>): void {
    this.hide(environment);
    this.caller = { ...this.caller!, environment: relevant(environment) };
  }

  look(roots: readonly { readonly root: string; readonly visible: boolean }[]): void {
    this.roots.clear();
    for (const { root, visible } of roots) this.roots.set(root, visible);
  }

  send<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K]): void {
    if (!this.socket.destroyed) this.connection.sendNotification(method, params).catch(() => undefined);
  }

  /** Lets what is written go out, then closes. */
  end(): void {
    this.socket.end();
  }

  private authenticate(hello: Partial<Hello> | undefined): boolean {
    const [given, expected] = [Buffer.from(String(hello?.token)), Buffer.from(this.options.token)];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    this.who = String(hello!.client);
    this.caller = { environment: relevant(hello!.environment ?? {}), variables: (names) => this.variables(names), ...(this.who === 'vscode' && { chat: (request, signal) => this.chat(request, signal) }) };
    this.options.onSecrets(keysIn(this.caller.environment));
    this.options.onOpen(this, hello as Hello);
    return true;
  }

  /** Asks the other side: what a template names as a secret is in the environment of whoever asks for a run of it. */
  private async variables(names: readonly string[]): Promise<NodeJS.ProcessEnv> {
    const late = AbortSignal.timeout(VARIABLES_MS);
    const expired = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(new Error('whoever asked did not answer for its secrets')), { once: true }));
    const asked = this.connection.sendRequest<CallerRequests['variables']['result']>('variables', { names });
    asked.catch(() => undefined);
    const answer = await Promise.race([asked, expired]);
    const values = Object.fromEntries(names.flatMap((name) => (typeof answer[name] === 'string' ? [[name, answer[name]]] : [])));
    this.options.onSecrets(Object.values(values));
    return values;
  }

  private async chat(request: CallerRequests['chat']['params'], signal: AbortSignal): Promise<CallerRequests['chat']['result']> {
    const cancellation = new CancellationTokenSource();
    const cancel = () => cancellation.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.connection.sendRequest<CallerRequests['chat']['result']>('chat', request, cancellation.token);
    } finally {
      signal.removeEventListener('abort', cancel);
      cancellation.dispose();
    }
  }

  private async answer(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const controller = new AbortController();
    const subscription = token.onCancellationRequested(() => controller.abort(new Error('the request was cancelled')));
    try {
      return await this.options.answer(this, method, params, controller.signal);
    } catch (error) {
      return toResponseError(error);
    } finally {
      subscription.dispose();
    }
  }

  private refuse(why: string): ResponseError<void> {
    if (!this.socket.destroyed) this.options.log('warn', `the connection of ${this.who} was closed: ${why}`);
    this.socket.destroy();
    return new ResponseError(ErrorCodes.InvalidRequest, why);
  }
}
