/** Files in and out of a sandbox by programs that run inside it, so that its links mean inside what they mean there. */
import { PassThrough, Readable, type TransformCallback } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { dirname } from 'node:path/posix';
import { packDirectory } from './archive.js';
import { bound, within } from './deadline.js';
import { FileExists, LimitExceeded, NoSuchFile, SandboxError } from './errors.js';
import { parseGlob, type Glob } from './glob.js';
import type { ExecOptions, ExecProcess, FileEntry, FileInfo, OperationOptions, ReadOptions, SandboxFiles } from './provider.js';

const TRANSFER_TIMEOUT_MS = 600_000;
const SHORT_TIMEOUT_MS = 60_000;
/** Exit codes of our own scripts. */
const MISSING = 120;
const NOT_A_FILE = 121;
const IN_THE_WAY = 122;
/** Said on standard error when a script has found what it is to send. */
const FOUND = 'found\n';

type Exec = (argv: readonly string[], options?: ExecOptions) => ExecProcess;

/** The programs that it takes: those of GNU. */
export type FileTool = 'sh' | 'cat' | 'chmod' | 'dd' | 'find' | 'mkdir' | 'mv' | 'rm' | 'tar';

export class ShellFiles implements SandboxFiles {
  /** `tool` gives the first words of a command that runs a program. `foreign` folders are not searched: they hold what the kernel and we put there. */
  constructor(
    protected readonly exec: Exec,
    private readonly tool: (name: FileTool) => readonly string[],
    private readonly foreign: readonly string[],
    /** Runs what sends files. */
    private readonly sending = exec,
  ) {}

  read(path: string, options: OperationOptions & ReadOptions = {}): Promise<Readable> {
    const { offset = 0, length } = options;
    const part = `${this.words('dd')} if="$1" bs=256K iflag=fullblock,skip_bytes,count_bytes status=none skip=${offset} ${length === undefined ? '' : `count=${length}`}`;
    const lines = `[ -e "$1" ] || exit ${MISSING}; [ -f "$1" ] || exit ${NOT_A_FILE}; echo found >&2; exec ${offset > 0 || length !== undefined ? part : `${this.words('cat')} -- "$1"`}`;
    const refused = (code: number, said: string): SandboxError =>
      code === MISSING ? new NoSuchFile(path) : new SandboxError(code === NOT_A_FILE ? `${path} is not a file` : `${path} cannot be read: ${said || `exit code ${code}`}`);
    return this.send(this.script(lines, path), `Reading ${path}`, options, new Sieve(options.maxBytes ?? Infinity, path), refused);
  }

  async write(path: string, data: Readable | Uint8Array | string, options: OperationOptions & { readonly mode?: number } = {}): Promise<void> {
    const mode = ((options.mode ?? 0o644) & 0o7777).toString(8);
    const lines = `${this.words('mkdir')} -p -- "$2" && ${this.words('cat')} > "$1" && ${this.words('chmod')} ${mode} -- "$1"`;
    await this.complete(this.script(lines, path, dirname(path)), `Writing ${path}`, options, data);
  }

  async remove(path: string, options: OperationOptions = {}): Promise<void> {
    await this.complete([...this.tool('rm'), '-rf', '--', path], `Removing ${path}`, { timeoutMs: SHORT_TIMEOUT_MS, ...options });
  }

  async list(path: string, options: OperationOptions = {}): Promise<FileEntry[]> {
    // What a link leads to is asked for apart, since only one of them has both.
    const lines = `[ -d "$1/" ] || exit ${MISSING}
${this.words('find')} -P "$1/" -mindepth 1 -maxdepth 1 -printf '${RECORD}/%f\\0'; ${this.words('find')} -L "$1/" -mindepth 1 -maxdepth 1 -xtype l -printf '${RECORD}/%f\\0'; :`;
    const entries = new Map<string, FileEntry>();
    for (const [record, name] of await this.records(this.script(lines, path === '/' ? '' : path), path, options)) {
      entries.set(name, { name, ...infoOf(record, entries.get(name)?.link) });
    }
    return [...entries.values()];
  }

  async stat(path: string, options: OperationOptions = {}): Promise<FileInfo> {
    const lines = `[ -e "$1" ] || [ -L "$1" ] || exit ${MISSING}
${this.words('find')} -P "$1" -maxdepth 0 -printf '${RECORD}/\\0'; ${this.words('find')} -L "$1" -maxdepth 0 -printf '${RECORD}/\\0'; :`;
    let info: FileInfo | undefined;
    for (const [record] of await this.records(this.script(lines, path.replace(/(.)\/+$/, '$1')), path, options)) info = infoOf(record, info?.link);
    if (info === undefined) throw new NoSuchFile(path);
    return info;
  }

  async mkdir(path: string, options: OperationOptions = {}): Promise<void> {
    await this.complete([...this.tool('mkdir'), '-p', '--', path], `Making ${path}`, { timeoutMs: SHORT_TIMEOUT_MS, ...options });
  }

  async rename(from: string, to: string, options: OperationOptions & { readonly overwrite?: boolean } = {}): Promise<void> {
    const clear = options.overwrite ? `if [ -d "$2" ] && [ ! -L "$2" ]; then ${this.words('rm')} -d -- "$2" 2>/dev/null || exit ${IN_THE_WAY}; fi` : `exit ${IN_THE_WAY}`;
    const lines = `[ -e "$1" ] || [ -L "$1" ] || exit ${MISSING}; if [ -e "$2" ] || [ -L "$2" ]; then ${clear}; fi; exec ${this.words('mv')} -T -f -- "$1" "$2"`;
    await this.complete(this.script(lines, from, to), `Moving ${from}`, { timeoutMs: SHORT_TIMEOUT_MS, ...options }, undefined, (code) => (code === MISSING ? new NoSuchFile(from) : code === IN_THE_WAY ? new FileExists(to) : undefined));
  }

  async upload(tar: Readable, directory: string, options: OperationOptions = {}): Promise<void> {
    const lines = `${this.words('mkdir')} -p -- "$1" && exec ${this.words('tar')} -x -f - -p --no-same-owner -C "$1"`;
    await this.complete(this.script(lines, directory), `Unpacking into ${directory}`, options, tar);
  }

  async download(patterns: readonly string[], options: OperationOptions = {}): Promise<Readable> {
    const names = await within('Looking for files', options, TRANSFER_TIMEOUT_MS, (signal) => this.find(patterns.map(parseGlob), signal));
    if (names.length === 0) return packDirectory([]);
    const list = Buffer.from(names.map((name) => `${name === '/' ? '.' : name.slice(1)}\0`).join(''), 'latin1');
    // What cannot be read, or is gone since, is left out; the others are still wanted.
    const lines = `echo found >&2; exec ${this.words('tar')} -c -f - --format=gnu --ignore-failed-read -C / --null --no-unquote -T -`;
    const refused = (code: number, said: string): SandboxError => new SandboxError(`files cannot be packed: ${said || `exit code ${code}`}`);
    // 1: a file changed while it was read. 2: one was gone.
    return this.send(this.script(lines), 'Downloading files', options, new Sieve(Infinity, ''), refused, { stdin: list, fine: [0, 1, 2] });
  }

  /** Paths that match, none of them below another, as byte strings. */
  private async find(globs: readonly Glob[], signal: AbortSignal): Promise<string[]> {
    const found = new Set<string>();
    for (const glob of globs) {
      const depth = glob.depth === undefined ? [] : ['-maxdepth', String(glob.depth)];
      const foreign = this.foreign.filter((path) => glob.root === '/' || (glob.root !== path && path.startsWith(`${glob.root}/`)));
      const prune = foreign.flatMap((path) => ['-path', path, '-prune', '-o']);
      const argv = [...this.tool('find'), '-H', Buffer.from(glob.root, 'latin1').toString('utf8'), ...depth, ...prune, '-print0'];
      const child = this.exec(argv, { signal });
      child.stderr.resume();
      const [listing] = await Promise.all([buffer(child.stdout), child.exit]);
      for (const path of listing.toString('latin1').split('\0')) if (path !== '' && glob.matches(path)) found.add(path);
    }
    return [...found].filter((path) => !hasParentIn(found, path));
  }

  /** What a script lists: records of `find`, and what follows them. */
  private async records(argv: readonly string[], path: string, options: OperationOptions): Promise<(readonly [record: string, name: string])[]> {
    const child = this.exec(argv, { timeoutMs: SHORT_TIMEOUT_MS, ...options });
    child.stderr.resume();
    const [listing, { code }] = await Promise.all([buffer(child.stdout), child.exit]);
    if (code === MISSING) throw new NoSuchFile(path);
    if (code !== 0) throw new SandboxError(`${path} cannot be listed: exit code ${code}`);
    return listing
      .toString()
      .split('\0')
      .filter((record) => record !== '')
      .map((record) => [record.slice(0, record.indexOf('/')), record.slice(record.indexOf('/') + 1)]);
  }

  /** The words that run a script of ours with arguments. */
  protected script(lines: string, ...args: readonly string[]): string[] {
    return [...this.tool('sh'), '-c', lines, 'sh', ...args];
  }

  private words(name: FileTool): string {
    return this.tool(name).join(' ');
  }

  protected async complete(argv: readonly string[], what: string, options: OperationOptions, stdin?: ExecOptions['stdin'], refused?: (code: number) => SandboxError | undefined): Promise<void> {
    const child = this.exec(argv, { ...transfer(options), stdin });
    child.stdout.resume();
    const [{ code }, said] = await Promise.all([child.exit, text(child.stderr)]);
    if (code === 0) return;
    const refusal = refused?.(code);
    if (refusal) throw refusal;
    // A source that broke is why the command did, and says more.
    if (stdin instanceof Readable && stdin.errored) throw stdin.errored;
    const message = `${what} failed: ${said.trim() || `exit code ${code}`}`;
    throw /No space left|quota exceeded/i.test(said) ? new LimitExceeded(message) : new SandboxError(message);
  }

  /** A command's output as a stream that fails if the command does. Resolves when the command has found what it is to send. */
  private async send(argv: readonly string[], what: string, options: OperationOptions, sieve: Sieve, refused: (code: number, said: string) => SandboxError, more: { readonly stdin?: Uint8Array; readonly fine?: readonly number[] } = {}): Promise<Readable> {
    const stop = new AbortController();
    const stream = await within(what, options, TRANSFER_TIMEOUT_MS, async (signal) => {
      signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
      const child = this.sending(argv, { signal: stop.signal, stdin: more.stdin });
      let said = '';
      const found = new Promise<void>((resolve) => {
        child.stderr.on('data', (chunk: Buffer) => {
          said = (said + chunk.toString()).slice(0, 2000);
          if (said.startsWith(FOUND)) resolve();
        });
        child.stderr.once('close', resolve);
      });
      const failure = (): Promise<unknown> =>
        child.exit.then(
          ({ code }) => ((more.fine ?? [0]).includes(code) ? undefined : refused(code, said.replace(FOUND, '').trim())),
          (error: unknown) => error,
        );
      await found;
      if (!said.startsWith(FOUND)) {
        child.stdout.resume();
        throw (await failure()) ?? refused(0, said);
      }
      child.stdout.once('end', () => void failure().then((error) => (error === undefined ? sieve.end() : sieve.destroy(error as Error))));
      child.stdout.pipe(sieve, { end: false });
      // The command of a reader that goes away early is of no use to anyone.
      sieve.once('close', () => {
        child.stdout.destroy();
        stop.abort();
      });
      return sieve;
    });
    return bound(stream, what, options, TRANSFER_TIMEOUT_MS);
  }
}

/** What `find` prints of a file: its type, that of what it leads to, size, time and mode. */
const RECORD = '%y %Y %s %T@ %m';

/** A record of the name itself, or, after one of a link, of what that leads to. */
function infoOf(record: string, link = false): FileInfo {
  const [own, behind, size, time, mode] = record.split(' ');
  const type = link || own === 'l' ? behind : own;
  return {
    type: type === 'f' ? 'file' : type === 'd' ? 'directory' : 'other',
    link: link || own === 'l',
    size: Number(size),
    modified: Math.round(Number(time) * 1000),
    mode: Number.parseInt(mode!, 8),
  };
}

const transfer = ({ signal, timeoutMs = TRANSFER_TIMEOUT_MS }: OperationOptions): ExecOptions => ({ signal, timeoutMs });

function hasParentIn(found: ReadonlySet<string>, path: string): boolean {
  for (let at = dirname(path); at !== path; path = at, at = dirname(at)) if (found.has(at)) return true;
  return false;
}

/** Lets bytes through up to a number. */
class Sieve extends PassThrough {
  private total = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly path: string,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _: BufferEncoding, callback: TransformCallback): void {
    this.total += chunk.length;
    if (this.total > this.maxBytes) callback(new LimitExceeded(`${this.path} holds more than ${this.maxBytes} bytes`));
    else callback(null, chunk);
  }
}
