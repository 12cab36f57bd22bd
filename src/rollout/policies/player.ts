/** The user's own program on this machine as whoever acts: observations to its standard input, actions from its standard output, each a line of JSON. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LimitExceeded, SandboxError } from '../../sandbox/errors.js';
import type { Content } from '../../trace/events.js';
import type { EpisodeId } from '../episode.js';
import { hostEnvironment } from '../hostEnvironment.js';
import { LinePeer, LinesEnded } from '../lines.js';
import { OutputCapture, consume } from '../output.js';
import { killGroup } from '../rewards/hostProgram.js';
import { lastWordsOf } from '../rewards/verifier.js';
import type { PolicyRequest } from './policy.js';

export interface PlayerSettings {
  readonly command: readonly string[];
  /** One process for all episodes, or one for each. */
  readonly per: 'run' | 'episode';
  /** How long an action may take, in milliseconds. */
  readonly timeout: number;
}

/** The program died, did not answer in time, or wrote nonsense: no reward, and no reason to try again. */
export class PolicyFailed extends SandboxError {
  override readonly retryable = false;
}

/** An episode's place at a program. */
export interface Seat {
  /** The action to what was seen; `undefined` if the program is done. Rejects with `PolicyFailed` or the signal's reason. */
  act(seen: object): Promise<Content | undefined>;
  leave(): Promise<void>;
}

export interface Player {
  sit(episode: { readonly id: EpisodeId; readonly signal: AbortSignal }): Promise<Seat>;
  close(): Promise<void>;
}

/** How long a program may take to end once it has nothing more to read. */
const GRACE_MS = 2000;
const STDERR_KEPT = 4096;

export function openPlayer(settings: PlayerSettings, request: PolicyRequest): Player {
  const running = new Set<Program>();
  let shared: Program | undefined;
  const start = async (): Promise<Program> => {
    const program = await Program.start(settings, request);
    running.add(program);
    void program.ended.then(() => running.delete(program));
    return program;
  };
  let starting: Promise<Program> | undefined;
  return {
    sit: async ({ id, signal }) => {
      signal.throwIfAborted();
      let program: Program;
      if (settings.per === 'episode') program = await start();
      else {
        // One that has died makes room for another.
        if (shared === undefined || shared.dead) shared = await (starting ??= start().finally(() => (starting = undefined)));
        program = shared;
      }
      let first = true;
      return {
        act: (seen) => {
          const type = first ? 'reset' : 'step';
          const extra = first ? { seed: id.seed, sample: id.sample, ...(request.template.task === undefined ? {} : { task: request.template.task }) } : {};
          first = false;
          return program.ask(id.episode, { type, episode: id.episode, ...extra, ...seen }, settings.timeout, signal);
        },
        leave: async () => {
          program.tell({ type: 'end', episode: id.episode });
          if (settings.per === 'episode') await program.close();
        },
      };
    },
    close: async () => void (await Promise.all([...running].map((program) => program.close()))),
  };
}

class Program {
  /** Why it can no longer be asked. */
  private failure: PolicyFailed | undefined;
  private readonly waiting = new Map<number, { resolve: (action: Content | undefined) => void; reject: (error: unknown) => void }>();
  private readonly stderr = new OutputCapture({ head: 0, tail: STDERR_KEPT });
  private readonly peer: LinePeer;
  readonly ended: Promise<void>;

  get dead(): boolean {
    return this.failure !== undefined;
  }

  private constructor(
    private readonly child: ChildProcess,
    private readonly name: string,
  ) {
    this.peer = new LinePeer(child.stdin!, child.stdout!);
    const drained = consume(child.stderr!, this.stderr).catch(() => undefined);
    const exit = (once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>).then(([code, signal]) => (signal === null ? `exit code ${code}` : `the signal ${signal}`));
    this.ended = this.listen(exit, drained);
  }

  static async start({ command: [file, ...args] }: PlayerSettings, { template, environment, secrets }: PolicyRequest): Promise<Program> {
    const env = { ...hostEnvironment(environment), ...template.env, ...secrets };
    try {
      const child = spawn(file!, args, { cwd: template.directory, env, stdio: 'pipe', detached: process.platform !== 'win32', windowsHide: true });
      await once(child, 'spawn');
      return new Program(child, file!);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'].includes(code ?? '')) throw new LimitExceeded(`cannot start ${file}: ${code}`, { cause: error });
      throw new PolicyFailed(`cannot start ${file}: ${code === 'ENOENT' ? 'there is no such program' : code}`, { cause: error });
    }
  }

  /** Asks for an action of one episode. Others may be waiting for theirs. */
  async ask(episode: number, message: object, timeoutMs: number, signal: AbortSignal): Promise<Content | undefined> {
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    const stop = new AbortController();
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => stop.abort(new PolicyFailed(`the policy ${this.name} did not answer within ${timeoutMs / 1000} s`)), Math.min(timeoutMs, 2 ** 31 - 1));
    try {
      return await new Promise((resolve, reject) => {
        this.waiting.set(episode, { resolve, reject });
        stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true });
        this.peer.send(message);
      });
    } finally {
      this.waiting.delete(episode);
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  tell(message: object): void {
    if (!this.failure) this.peer.send(message);
  }

  async close(): Promise<void> {
    this.peer.end();
    await Promise.race([this.ended, sleep(GRACE_MS, undefined, { ref: false })]);
    killGroup(this.child);
    await this.ended;
  }

  /** Gives each answer to who waits for it, until the program ends or writes nonsense: then it is killed, and all who wait are told. */
  private async listen(exit: Promise<string>, drained: Promise<void>): Promise<void> {
    let why: string;
    try {
      for (;;) this.hand(await this.peer.receive());
    } catch (error) {
      why = error instanceof LinesEnded ? '' : (error as Error).message;
    }
    // Its output may have ended while it goes on.
    if (why) killGroup(this.child);
    const how = await Promise.race([exit, sleep(GRACE_MS, undefined, { ref: false })]);
    killGroup(this.child);
    const ended = how ?? (await exit);
    await Promise.race([drained, sleep(GRACE_MS, undefined, { ref: false })]);
    const sentence = why ? `the policy ${this.name} ${why}` : `the policy ${this.name} ended with ${ended}${lastWordsOf(this.stderr)}`;
    this.failure = new PolicyFailed(sentence);
    for (const { reject } of this.waiting.values()) reject(this.failure);
  }

  private hand(line: string): void {
    const quoted = JSON.stringify(line.slice(0, 100));
    let answer: { readonly action?: Content; readonly done?: unknown; readonly episode?: unknown };
    try {
      answer = JSON.parse(line) as typeof answer;
    } catch {
      throw new Error(`wrote what is not JSON: ${quoted}`);
    }
    if (typeof answer !== 'object' || answer === null || !(answer.done === true || Object.hasOwn(answer, 'action'))) throw new Error(`wrote ${quoted}: expected {"action": ...} or {"done": true}`);
    if (answer.episode === undefined && this.waiting.size > 1) throw new Error(`wrote ${quoted} while several episodes wait: expected "episode" beside "action"`);
    const episode = answer.episode === undefined ? [...this.waiting.keys()][0] : Number(answer.episode);
    // An answer that comes too late is for nobody.
    this.waiting.get(episode!)?.resolve(answer.done === true ? undefined : answer.action!);
  }
}
