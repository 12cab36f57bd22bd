/** The way into one sandbox: commands by `spoolShell.ts`, what is uploaded in pieces that the gateway takes. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { newNonce } from '../marked/marker.js';
import { quote } from '../quote.js';
import { COOKIE } from '../remote/shell.js';
import type { Endpoint, Listener, RemoteProcess, Start } from '../remote/service.js';
import { Incomplete, NotOk, translate } from './failures.js';
import type { Gateway } from './gateway.js';
import { SpooledProcess } from './spool.js';
import { ARRIVALS, START, TURNS, prepare, ttyNote } from './spoolShell.js';

/** Bytes of a file in one request, of which there are several copies for a moment. The gateway takes 16 MB of JSON. */
const PIECE = 4 << 20;
/** Longest word of a command line that Linux takes is 128 KiB; what is longer is sent as a file. */
const LONGEST_COMMAND = 96 << 10;
const ASK_AGAIN_MS = 100;

export class BeamEndpoint implements Endpoint {
  readonly translate = translate;
  /** Folders of commands that are over, to be removed along with what is asked for next. */
  private over: string[] = [];
  private readonly life = newNonce();
  private isPrepared = false;

  constructor(
    private readonly gateway: Gateway,
    private readonly containerId: string,
  ) {}

  async start({ argv, env, stdin, size, bulk }: Start, listener: Listener, signal: AbortSignal): Promise<RemoteProcess> {
    const nonce = newNonce();
    const { [COOKIE]: cookie, ...others } = env;
    const words = size ? ['script', '-qec', `stty cols ${size.columns} rows ${size.rows}; tty >${ttyNote(nonce)}; exec ${argv.map(quote).join(' ')}`, '/dev/null'] : argv;
    const process = new SpooledProcess(this, nonce, listener);
    const over = this.over.splice(0);
    // A terminal is typed at, so it has an input in any case. What waits for its input is not waited for.
    const fed = stdin || size !== undefined;
    // Nothing else is asked of a sandbox before its first command has begun.
    await process.begin(['sh', '-c', this.isPrepared ? START : `${prepare(this.life)}${START}`, 'sh', over.join(' '), nonce, cookie!, fed ? '1' : '0', fed ? '0' : String(TURNS), bulk ? '1' : '0', ...words], others, signal).catch((error: unknown) => {
      this.over.push(...over);
      throw error;
    });
    this.isPrepared = true;
    return process;
  }

  async say(script: string, args: readonly string[], signal: AbortSignal): Promise<{ code: number; said: string; errors: string }> {
    return this.gateway.again(signal, () => this.ask(['sh', '-c', script, 'sh', ...args], {}, signal));
  }

  async upload(path: string, data: Readable, signal: AbortSignal): Promise<readonly string[]> {
    const nonce = newNonce();
    const names: string[] = [];
    let held: Buffer[] = [];
    let length = 0;
    const send = async (): Promise<void> => {
      const name = `${ARRIVALS}/${nonce}.${names.length}`;
      await this.gateway.upload(this.containerId, name, Buffer.concat(held), signal);
      names.push(name);
      held = [];
      length = 0;
    };
    for await (const chunk of data) {
      let rest = chunk as Buffer;
      while (length + rest.length >= PIECE) {
        held.push(rest.subarray(0, PIECE - length));
        rest = rest.subarray(PIECE - length);
        length = PIECE;
        await send();
      }
      if (rest.length > 0) held.push(rest);
      length += rest.length;
    }
    if (length > 0 || names.length === 0) await send();
    return names;
  }

  /** A piece of input, where the command's feeder looks for it. */
  arrive(name: string, data: Buffer, signal: AbortSignal): Promise<unknown> {
    return this.gateway.upload(this.containerId, `${ARRIVALS}/${name}`, data, signal);
  }

  /** A piece of output, as it was inside. */
  fetch(path: string, size: number, digest: string, signal: AbortSignal): Promise<Buffer> {
    return this.gateway.again(signal, async () => {
      const bytes = await this.gateway.download(this.containerId, path, signal);
      if (bytes.length !== size || createHash('sha256').update(bytes).digest('hex') !== digest) throw new Incomplete('a piece of output has not arrived as it is in the sandbox');
      return bytes;
    });
  }

  async answers(signal: AbortSignal): Promise<boolean | undefined> {
    try {
      await this.gateway.connect(this.containerId, signal);
      return true;
    } catch (error) {
      return error instanceof NotOk ? false : undefined;
    }
  }

  forget(nonce: string): void {
    this.over.push(nonce);
  }

  /** Runs what ends soon, once. Its environment is that of the service and these. */
  async ask(words: readonly string[], env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<{ code: number; said: string; errors: string }> {
    let command = words.map(quote).join(' ');
    if (Buffer.byteLength(command) > LONGEST_COMMAND) {
      const name = `${newNonce()}.s`;
      await this.arrive(name, Buffer.from(`rm -f ${ARRIVALS}/${name}\nexec ${command}`), signal);
      command = `sh ${ARRIVALS}/${name}`;
    }
    const ran = await this.gateway.exec(this.containerId, command, env, signal);
    if (ran.done) return { code: ran.exitCode ?? 0, said: ran.stdout ?? '', errors: ran.stderr ?? '' };
    let code = -1;
    while ((code = await this.gateway.again(signal, () => this.gateway.status(this.containerId, ran.pid, signal))) < 0) await pause(ASK_AGAIN_MS, undefined, { signal });
    // A read may empty the service's buffer: one that was not answered is not asked for again, but the whole is.
    const [said, errors] = await Promise.all((['stdout', 'stderr'] as const).map((stream) => this.gateway.output(this.containerId, stream, ran.pid, signal)));
    return { code, said: said!, errors: errors! };
  }

  /** The same, of what may be asked for twice and gives an answer that says when it is whole. */
  answer<T>(words: readonly string[], env: Readonly<Record<string, string>>, signal: AbortSignal, read: (said: string) => T | undefined): Promise<T> {
    return this.gateway.again(signal, async () => {
      const { code, said, errors } = await this.ask(words, env, signal);
      const found = read(said);
      if (found === undefined) throw new Incomplete(`what runs commands in the sandbox ended with exit code ${code}${errors ? `: ${errors.trim().slice(0, 300)}` : ' and an answer that is not whole'}`);
      return found;
    });
  }
}
