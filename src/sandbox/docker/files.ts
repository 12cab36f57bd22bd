/**
 * Files of a container through archives, for the most part the engine's: they need no program of the sandbox, and links are resolved within the container's
 * root. Removing, moving, listing and finding what a pattern matches run a command inside.
 */
import { posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pack, type Pack } from 'tar-stream';
import { bound, within } from '../deadline.js';
import { FileExists, LimitExceeded, NoSuchFile, SandboxError, Unsupported } from '../errors.js';
import { parseGlob } from '../glob.js';
import type { ExecOptions, ExecProcess, FileEntry, FileInfo, OperationOptions, ReadOptions, SandboxFiles } from '../provider.js';
import type { Archives, PathStat } from './archiveAccess.js';
import { contentOf, copyEntries, tarOfFile, tarOfFolder } from './archives.js';
import type { Engine } from './engine.js';
import { translate } from './failures.js';
import { newNonce } from '../marked/marker.js';
import { IN_THE_WAY, LIST, LIST_FOLDER, MISSING, MOVE, PART } from './shell.js';

const ANSWER_TIMEOUT_MS = 60_000;
const TRANSFER_TIMEOUT_MS = 1_800_000;
/** As many links as the kernel follows before it gives up (`path_resolution(7)`). */
const MAX_LINKS = 40;
/** Up to so many matches of a pattern are fetched one by one; more of them as the whole folder, of which the rest is left out. */
const FEW = 8;

export class DockerFiles implements SandboxFiles {
  constructor(
    private readonly engine: Engine,
    private readonly archives: Archives,
    private readonly exec: (argv: readonly string[], options?: ExecOptions) => ExecProcess,
  ) {}

  async read(path: string, options?: OperationOptions & ReadOptions): Promise<Readable> {
    const doing = `Reading ${path}`;
    if (options?.offset) return this.readFrom(path, options.offset, options, doing);
    const archive = await this.call(doing, options, ANSWER_TIMEOUT_MS, async (signal) => {
      let at = posix.normalize(path);
      for (let links = 0; links <= MAX_LINKS; links++) {
        const found = await this.archives.get(at, signal);
        if (found === undefined) break;
        const { stat, tar } = found;
        if (stat.type === 'file') return tar;
        tar.destroy();
        if (stat.type !== 'symlink') throw new SandboxError(`${path} is not a file`);
        at = posix.resolve(posix.dirname(at), stat.target);
      }
      throw new NoSuchFile(path);
    });
    return bound(contentOf(archive, options?.maxBytes, options?.length), doing, options, TRANSFER_TIMEOUT_MS);
  }

  async write(path: string, data: Readable | Uint8Array | string, options?: OperationOptions & { readonly mode?: number; readonly size?: number }): Promise<void> {
    const name = posix.normalize(path).slice(1);
    await this.call(`Writing ${path}`, options, TRANSFER_TIMEOUT_MS, async (signal) => {
      const { tar, close } = await tarOfFile(name, data, options?.mode ?? 0o644, options?.size, signal);
      try {
        await this.archives.put(tar, '/', signal);
      } finally {
        await close();
      }
    });
  }

  async remove(path: string, options?: OperationOptions): Promise<void> {
    await this.call(`Removing ${path}`, options, ANSWER_TIMEOUT_MS, () => this.run(['rm', '-rf', '--', path]));
  }

  async list(path: string, options?: OperationOptions): Promise<FileEntry[]> {
    const nonce = newNonce();
    const said = await this.call(`Listing ${path}`, options, ANSWER_TIMEOUT_MS, async (signal) => {
      const child = this.exec(['sh', '-c', LIST_FOLDER, 'sh', nonce, path], { signal });
      child.stderr.resume();
      const [output, { code }] = await Promise.all([buffer(child.stdout), child.exit]);
      if (code === MISSING) throw new NoSuchFile(path);
      return output.toString();
    });
    const records = said.split(`${nonce} `).slice(1);
    const count = /^end (\d+)\n$/.exec(records.pop() ?? '')?.[1];
    if (count === undefined) throw new SandboxError(`${path} cannot be listed: its listing is not complete`);
    if (records.length === 0 && count !== '0') throw new Unsupported('files can only be listed where the image has the program stat (coreutils, busybox)');
    const entries = new Map<string, FileEntry>();
    for (const record of records) {
      const at = record.indexOf('/./');
      const name = record.slice(at + 3).replace(/\n$/, '');
      const [mode, size, time] = record.slice(0, at).split(' ');
      const bits = Number.parseInt(mode!, 16);
      const kind = bits & 0o170000;
      const link = kind === 0o120000 || entries.get(name)?.link === true;
      entries.set(name, { name, type: kind === 0o100000 ? 'file' : kind === 0o040000 ? 'directory' : 'other', link, size: Number(size), modified: Number(time) * 1000, mode: bits & 0o7777 });
    }
    return [...entries.values()];
  }

  stat(path: string, options?: OperationOptions): Promise<FileInfo> {
    return this.call(`Looking at ${path}`, options, ANSWER_TIMEOUT_MS, async (signal) => {
      let link = false;
      let at = posix.normalize(path).replace(/(.)\/$/, '$1');
      let last: PathStat | undefined;
      for (let links = 0; links <= MAX_LINKS; links++) {
        const found = await this.archives.lookAt(at, signal);
        if (found === undefined) break;
        last = found;
        if (found.type !== 'symlink') break;
        link = true;
        at = posix.resolve(posix.dirname(at), found.target);
      }
      if (last === undefined) throw new NoSuchFile(path);
      const { type, size, modified, mode } = last;
      return { type: type === 'symlink' ? 'other' : type, link, size, modified, mode };
    });
  }

  async mkdir(path: string, options?: OperationOptions): Promise<void> {
    const there = await this.stat(path, options).catch((error: unknown) => {
      if (error instanceof NoSuchFile) return undefined;
      throw error;
    });
    if (there?.type === 'directory') return;
    if (there) throw new FileExists(path);
    await this.call(`Making ${path}`, options, ANSWER_TIMEOUT_MS, (signal) => this.archives.put(tarOfFolder(posix.normalize(path).slice(1)), '/', signal));
  }

  async rename(from: string, to: string, options?: OperationOptions & { readonly overwrite?: boolean }): Promise<void> {
    await this.call(`Moving ${from}`, options, ANSWER_TIMEOUT_MS, async (signal) => {
      const child = this.exec(['sh', '-c', MOVE, 'sh', from, to, options?.overwrite ? '1' : ''], { signal });
      child.stdout.resume();
      const [{ code }, errors] = await Promise.all([child.exit, text(child.stderr)]);
      if (code === MISSING) throw new NoSuchFile(from);
      if (code === IN_THE_WAY) throw new FileExists(to);
      if (code !== 0) throw new SandboxError(`${from} cannot be moved: ${errors.trim() || `exit code ${code}`}`);
    });
  }

  async upload(tar: Readable, directory: string, options?: OperationOptions): Promise<void> {
    const folder = posix.normalize(directory);
    try {
      await this.call(`Uploading to ${directory}`, options, TRANSFER_TIMEOUT_MS, async (signal) => {
        if ((await this.archives.lookAt(folder, signal)) === undefined) await this.archives.put(tarOfFolder(folder.slice(1)), '/', signal);
        await this.archives.put(tar, folder, signal);
      });
    } finally {
      tar.destroy();
    }
  }

  async download(patterns: readonly string[], options?: OperationOptions): Promise<Readable> {
    const doing = 'Downloading files';
    const result = pack();
    const matches = await this.call(doing, options, ANSWER_TIMEOUT_MS, () => Promise.all([...new Set(patterns)].map((pattern) => this.matches(pattern))));
    const fill = within(doing, options, TRANSFER_TIMEOUT_MS, (signal) => this.send(matches, result, signal));
    fill.then(
      () => result.finalize(),
      (error: unknown) => result.destroy(translate(error, doing, undefined) as Error),
    );
    return bound(Readable.from(result, { objectMode: false }), doing, options, TRANSFER_TIMEOUT_MS);
  }

  /** By a command inside: the archive of a file begins at its beginning. */
  private async readFrom(path: string, offset: number, options: OperationOptions & ReadOptions, doing: string): Promise<Readable> {
    const info = await this.stat(path, options);
    if (info.type !== 'file') throw new SandboxError(`${path} is not a file`);
    if (info.size > (options.maxBytes ?? Infinity)) throw new LimitExceeded(`the file is larger than ${options.maxBytes} bytes`);
    const stop = new AbortController();
    const child = this.exec(['sh', '-c', PART, 'sh', path, String(offset + 1), options.length === undefined ? '' : String(options.length)], { signal: stop.signal });
    const errors = text(child.stderr);
    const content = new PassThrough();
    const end = async (): Promise<void> => {
      const [{ code }, said] = await Promise.all([child.exit, errors]);
      if (code === MISSING) throw new NoSuchFile(path);
      if (code !== 0) throw new SandboxError(`${path} cannot be read: ${said.trim() || `exit code ${code}`}`);
    };
    child.stdout.once('end', () => void end().then(() => content.end(), (error: Error) => content.destroy(error)));
    child.stdout.pipe(content, { end: false });
    content.once('close', () => stop.abort(new Error('the file is not read any more')));
    return bound(content, doing, options, TRANSFER_TIMEOUT_MS);
  }

  private call<T>(doing: string, options: OperationOptions | undefined, defaultMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.engine.call(doing, options, defaultMs, (_, signal) => work(signal));
  }

  private async run(argv: readonly string[]): Promise<Buffer> {
    const { stdout, stderr, exit } = this.exec(argv);
    const [{ code }, output, errors] = await Promise.all([exit, buffer(stdout), text(stderr)]);
    if (code !== 0) throw new SandboxError(`${argv[0]} failed in the sandbox: ${errors.trim() || `exit code ${code}`}`);
    return output;
  }

  /** What a pattern matches, without what lies in a folder that itself matches. */
  private async matches(pattern: string): Promise<Matches> {
    const { root, depth, matches } = parseGlob(pattern);
    const folder = characters(root);
    if (depth === 0) return { folder, paths: [folder] };
    const listing = await this.run(['sh', '-c', LIST, 'sh', folder === '/' ? '' : folder, String(depth ?? -1)]);
    const paths = listing.toString('latin1').split('\0').filter((path) => path !== '' && matches(path)).map(characters).sort();
    const chosen = new Set<string>();
    for (const path of paths) if (!isBelow(path, chosen)) chosen.add(path);
    return { folder, paths: [...chosen] };
  }

  private async send(all: readonly Matches[], to: Pack, signal: AbortSignal): Promise<void> {
    const sent = new Set<string>();
    for (const { folder, paths } of all) {
      const wanted = new Set(paths.filter((path) => !sent.has(path) && !isBelow(path, sent)));
      let single = [...wanted];
      if (wanted.size > FEW) single = await this.sendFolder(folder, wanted, to, signal);
      for (const path of single) await this.sendOne(path, posix.dirname(path), to, signal, () => true);
      for (const path of wanted) sent.add(path);
    }
  }

  /** Sends what is wanted of a folder; gives what has to be sent alone: links to files that were left out. */
  private async sendFolder(folder: string, wanted: ReadonlySet<string>, to: Pack, signal: AbortSignal): Promise<string[]> {
    return this.sendOne(folder, posix.dirname(folder), to, signal, (path) => wanted.has(path) || isBelow(path, wanted));
  }

  private async sendOne(path: string, parent: string, to: Pack, signal: AbortSignal, wanted: (path: string) => boolean): Promise<string[]> {
    const found = await this.archives.get(path, signal);
    if (found === undefined) return [];
    if (this.archives.followsLinks && found.stat.type === 'symlink') {
      found.tar.destroy();
      to.entry({ name: path.slice(1), type: 'symlink', linkname: (await this.run(['readlink', '-n', '--', path])).toString() });
      return [];
    }
    const prefix = parent === '/' ? '' : parent;
    // The archive's names begin with the last name of its path; for the root they begin with nothing.
    const nameOf = (entry: string): string => posix.normalize(path === '/' ? `/${entry}` : `${prefix}/${entry}`).replace(/(.)\/$/, '$1');
    return copyEntries(found.tar, to, nameOf, wanted, signal);
  }
}

interface Matches {
  readonly folder: string;
  readonly paths: readonly string[];
}

/** A byte string as text; the engine's API knows no other names. */
const characters = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

/** Whether one of the folders above a path is in a set. */
function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = posix.dirname(path); at !== '/' && at !== '.'; at = posix.dirname(at)) if (folders.has(at)) return true;
  return false;
}
