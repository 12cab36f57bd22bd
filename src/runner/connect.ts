/** A connection to the user's runner: found, started if there is none, replaced if it is older. Nothing here knows of VS Code. */
import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createMessageConnection, Message, SocketMessageReader, SocketMessageWriter, type DataCallback, type Disposable } from 'vscode-jsonrpc/node.js';
import { lasting, relevant } from '../engine/caller.js';
import type { EndingReason, Hello, RunnerNotifications, Welcome, Work } from './api.js';
import { RunnerClient, RunnerError } from './client.js';
import { isNewer, PROTOCOL, type Identity } from './identity.js';
import { lockHolder } from '../store/lock.js';
import { checkPrivate, makePrivate, type Place } from './place.js';

export { relevant } from '../engine/caller.js';

export interface ConnectOptions {
  readonly place: Place;
  readonly identity: Identity;
  readonly client: Hello['client'];
  readonly idleTimeoutMs?: number;
  /** How to start a runner; without it none is started, and none that runs is replaced. */
  readonly start?: {
    /** Node, or an Electron that can act as it. */
    readonly execPath: string;
    readonly script: string;
  };
  /** Milliseconds until a runner that is being started, or one that says nothing, is given up. */
  readonly timeoutMs?: number;
  /** Of the caller: secrets that templates name are taken from it when they are asked for. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Variables of the caller's accounts, in place of those of its environment; templates are not given them as secrets. */
  readonly accounts?: NodeJS.ProcessEnv;
}

export interface RunnerConnection {
  readonly client: RunnerClient;
  readonly welcome: Welcome;
  /** What an older runner is at, which takes nothing else and ends with it; the next connection is to a newer one. */
  readonly older: Work | undefined;
  /** Resolves when the connection is gone, with the reason if the runner ended on purpose. */
  readonly closed: Promise<EndingReason | undefined>;
  close(): void;
}

const TIMEOUT_MS = 20_000;
const RETRY_MS = 50;
const LOG_TAIL_BYTES = 4096;

/**
 * Undefined if there is none and none may be started. Rejects with `UnsafeFolder`, or with `RunnerError`: `StartFailed`, `Timeout`, or `Outdated` if
 * the runner is of a newer version that this caller cannot speak with.
 */
export async function connectRunner(options: ConnectOptions): Promise<RunnerConnection | undefined> {
  const { place, start, timeoutMs = TIMEOUT_MS } = options;
  const deadline = performance.now() + timeoutMs;
  if (start) await makePrivate(place);
  else if (!(await checkPrivate(place))) return undefined;
  let starting: Starting | undefined;
  for (;;) {
    const connection = await tryConnect(options, deadline);
    if (connection) {
      if (!start || !isNewer(options.identity, connection.welcome)) return connection;
      const older = await connection.client.request('runner/retire', {});
      if (older.runs + older.kept > 0) return { ...connection, older };
      await within(connection.closed, deadline, 'the older engine did not end');
      continue;
    }
    if (!start) return undefined;
    starting ??= await Starting.begin(place, start);
    if (performance.now() > deadline) {
      const failure = starting.failure(timeoutMs);
      starting.kill();
      throw await failure;
    }
    if (starting.exit) {
      if (starting.exit.code !== 0) throw await starting.failure(timeoutMs);
      // Another one had the place, and may have gone since.
      starting = undefined;
    }
    await delay(RETRY_MS);
  }
}

/** Undefined if nobody listens there, or ends before it answers. */
async function tryConnect(options: ConnectOptions, deadline: number): Promise<RunnerConnection | undefined> {
  const { place, identity, client, idleTimeoutMs, environment = process.env, accounts } = options;
  const socket = await dial(place.socket);
  if (!socket) return undefined;
  const token = await readFile(place.token, 'utf8').catch(() => undefined);
  if (token === undefined) {
    socket.destroy();
    return undefined;
  }
  let reason: EndingReason | undefined;
  const reader = new (class extends SocketMessageReader {
    override listen(callback: DataCallback): Disposable {
      return super.listen((message) => {
        // Seen here, since messages are handled later than the end of the connection that this one announces.
        if (Message.isNotification(message) && message.method === ('ending' satisfies keyof RunnerNotifications)) reason = (message.params as RunnerNotifications['ending']).reason;
        callback(message);
      });
    }
  })(socket);
  const messages = createMessageConnection(reader, new SocketMessageWriter(socket));
  const closed = new Promise<EndingReason | undefined>((resolve) =>
    socket.once('close', () => {
      // Answers that are still awaited reject only when the connection is disposed.
      messages.dispose();
      resolve(reason);
    }),
  );
  messages.onError(() => socket.destroy());
  const runner = new RunnerClient(messages);
  runner.answer('variables', ({ names }) => Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]]))));
  messages.listen();
  const hello: Hello = { ...identity, token, client, idleTimeoutMs, environment: relevant({ ...environment, ...accounts }) };
  try {
    const welcome = await within(Promise.race([runner.request('hello', hello), closed.then(() => undefined)]), deadline, 'the engine does not answer');
    if (!welcome) return undefined;
    if (welcome.protocol !== PROTOCOL && !isNewer(identity, welcome)) {
      throw new RunnerError(`the engine that runs is of version ${welcome.version}, newer than this one (${identity.version})`, { code: 'Outdated', hint: 'Reload the window, or update what is older.' });
    }
    return { client: runner, welcome, older: undefined, closed, close: () => socket.end() };
  } catch (error) {
    socket.destroy();
    // It has ended instead of answering: there may be another one.
    if (error instanceof RunnerError && error.code === 'ConnectionClosed') return undefined;
    if (error instanceof RunnerError && error.code === 'Timeout') throw await silent(place, error);
    throw error;
  }
}

async function silent(place: Place, error: RunnerError): Promise<RunnerError> {
  const pid = await lockHolder(place.folder);
  return new RunnerError(`${error.message}${pid === undefined ? '' : ` (process ${pid})`}`, { code: 'Timeout', hint: '`rl-sandboxes runner stop --force` ends it.' }, { cause: error });
}

/** Undefined if nobody listens. */
function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    const failed = (error: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'ENOTSOCK', 'EPIPE'].includes(error.code ?? '')) resolve(undefined);
      else reject(new RunnerError(`the engine cannot be reached: ${error.message}`, { code: 'StartFailed' }, { cause: error }));
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      // `close` follows, which is what counts.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

async function within<T>(promise: Promise<T>, deadline: number, otherwise: string): Promise<T> {
  const timer = new AbortController();
  const late = delay(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal }).then(() => {
    throw new RunnerError(otherwise, { code: 'Timeout' });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}

/** A runner that was started and has not answered yet. It outlives whoever started it. */
class Starting {
  exit: { readonly code: number | null; readonly why: string } | undefined;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly log: string,
    private readonly logSize: number,
  ) {}

  static async begin({ folder, log }: Place, { execPath, script }: NonNullable<ConnectOptions['start']>): Promise<Starting> {
    const starting = new Starting(log, await stat(log).then(({ size }) => size, () => 0));
    const output = await open(log, 'a', 0o600);
    try {
      // Of the environment only what counts: it stays for hours, and serves others.
      const child = spawn(execPath, [script, folder], {
        env: { ...lasting(process.env), ELECTRON_RUN_AS_NODE: '1' },
        stdio: ['ignore', 'ignore', output.fd],
        cwd: folder,
        detached: true,
        windowsHide: true,
      });
      starting.child = child;
      child.once('error', (error) => (starting.exit = { code: null, why: error.message }));
      child.once('exit', (code, signal) => (starting.exit ??= { code, why: signal ?? `exit code ${code}` }));
      child.unref();
    } finally {
      await output.close();
    }
    return starting;
  }

  kill(): void {
    this.child?.kill('SIGKILL');
  }

  async failure(timeoutMs: number): Promise<RunnerError> {
    const why = this.exit ? `the engine ended as soon as it was started (${this.exit.why})` : `the engine did not start within ${timeoutMs / 1000} s`;
    return new RunnerError([why, ...(await this.lastWords())].join(': '), { code: 'StartFailed' });
  }

  private async lastWords(): Promise<string[]> {
    const text = await readFile(this.log).catch(() => Buffer.alloc(0));
    const lines = text.subarray(Math.max(this.logSize, text.length - LOG_TAIL_BYTES)).toString().split('\n');
    const said = lines.filter((line) => line.trim());
    return [said.findLast((line) => /error|cannot|denied/i.test(line)) ?? said.at(-1) ?? []].flat();
  }
}
