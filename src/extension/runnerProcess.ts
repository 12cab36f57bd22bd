/** One child process that runs the engine, from its start to its end. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createMessageConnection, ResponseError, StreamMessageReader, StreamMessageWriter, type MessageConnection } from 'vscode-jsonrpc/node.js';
import { RunnerClient, RunnerError } from '../runner/client.js';

export interface RunnerProcessOptions {
  /** Node, or an Electron that can act as it. */
  readonly execPath: string;
  readonly script: string;
  /** Milliseconds until a child that says nothing is given up. */
  readonly startTimeoutMs: number;
  /** A line of the child's standard error. */
  readonly onStderr: (line: string) => void;
}

export interface ExitInfo {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const STDERR_TAIL_LINES = 20;

export class RunnerProcess {
  readonly client: RunnerClient;
  /** Resolves when the child is gone, however that came about. */
  readonly exited: Promise<ExitInfo>;
  readonly stderrTail: string[] = [];
  private readonly connection: MessageConnection;

  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    options: RunnerProcessOptions,
  ) {
    this.connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    this.client = new RunnerClient(this.connection);
    this.exited = new Promise((resolve) => {
      const end = (exit: ExitInfo) => {
        // Answers that are still awaited reject only when the connection is disposed.
        this.connection.dispose();
        resolve(exit);
      };
      child.once('exit', (code, signal) => end({ code, signal }));
      child.once('error', (error) => {
        this.stderrTail.push(error.message);
        end({ code: null, signal: null });
      });
    });
    // A child that is gone breaks the pipe; `exit` tells that better.
    child.stdin.on('error', () => undefined);
    this.connection.onError(([error]) => options.onStderr(`connection: ${error.message}`));
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.stderrTail.push(line);
      if (this.stderrTail.length > STDERR_TAIL_LINES) this.stderrTail.shift();
      options.onStderr(line);
    });
    this.connection.listen();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Resolves when the child answers; rejects with `RunnerError` (code `StartFailed`), and then no child is left. */
  static async start(options: RunnerProcessOptions): Promise<RunnerProcess> {
    const child = spawn(options.execPath, [options.script, '--stdio'], {
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const runner = new RunnerProcess(child, options);
    const timer = new AbortController();
    const outcome = await Promise.race([
      runner.answers().then(() => 'up' as const),
      runner.exited.then(() => 'exited' as const),
      delay(options.startTimeoutMs, 'silent' as const, { signal: timer.signal }).catch(() => 'silent' as const),
    ]);
    timer.abort();
    if (outcome === 'up') return runner;
    child.kill('SIGKILL');
    const why = outcome === 'exited' ? l10n.t('the engine ended as soon as it was started') : l10n.t('the engine did not start within {0} s', options.startTimeoutMs / 1000);
    throw new RunnerError([why, ...runner.stderrTail.slice(-1)].join(': '), { code: 'StartFailed' });
  }

  /** Asks it to end all it runs, then to exit; what is left after the deadline is killed. */
  async stop(timeoutMs: number): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const late = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.client.request('shutdown', {}, { signal: deadline }).catch(() => undefined), this.exited, late]);
    this.child.stdin.end();
    await Promise.race([this.exited, late]);
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private async answers(): Promise<void> {
    try {
      await this.connection.sendRequest('initialize', {});
    } catch (error) {
      // Any answer shows that it is up, even that it does not know the method. No answer ends in `exited`.
      if (!(error instanceof ResponseError)) await this.exited;
    }
  }
}
