/**
 * Files of a container through the engine's archive API: it needs no program of the sandbox, and resolves links within the container's root.
 * Only removing and finding what a pattern matches run a command inside.
 */
import type Docker from 'dockerode';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pack, type Pack } from 'tar-stream';
import { bound, within } from '../deadline.js';
import { NoSuchFile, SandboxError } from '../errors.js';
import { parseGlob } from '../glob.js';
import type { ExecProcess, OperationOptions, SandboxFiles } from '../provider.js';
import { contentOf, copyEntries, tarOfFile, tarOfFolder } from './archives.js';
import type { Engine } from './engine.js';
import { reasonOf, statusOf, translate } from './failures.js';
import { LIST } from './shell.js';

const ANSWER_TIMEOUT_MS = 60_000;
const TRANSFER_TIMEOUT_MS = 1_800_000;
/** As many links as the kernel follows before it gives up (`path_resolution(7)`). */
const MAX_LINKS = 40;
/** Up to so many matches of a pattern are fetched one by one; more of them as the whole folder, of which the rest is left out. */
const FEW = 8;

/** Bits of a mode as the engine, written in Go, counts them. */
const GO_MODE = { directory: 2 ** 31, symlink: 2 ** 27, irregular: 2 ** 26 + 2 ** 25 + 2 ** 24 + 2 ** 21 + 2 ** 19 };

interface PathStat {
  readonly mode: number;
  readonly linkTarget: string;
}

export class DockerFiles implements SandboxFiles {
  constructor(
    private readonly engine: Engine,
    private readonly container: Docker.Container,
    private readonly exec: (argv: readonly string[]) => ExecProcess,
  ) {}

  async read(path: string, options?: OperationOptions & { readonly maxBytes?: number }): Promise<Readable> {
    const doing = `Reading ${path}`;
    const archive = await this.call(doing, options, ANSWER_TIMEOUT_MS, async (signal) => {
      let at = posix.normalize(path);
      for (let links = 0; links <= MAX_LINKS; links++) {
        const found = await this.archive(at, signal);
        if (found === undefined) break;
        const { stat, tar } = found;
        if (!has(stat, GO_MODE.symlink)) {
          if (!has(stat, GO_MODE.directory) && !has(stat, GO_MODE.irregular)) return tar;
          tar.destroy();
          throw new SandboxError(`${path} is not a file`);
        }
        tar.destroy();
        at = posix.resolve(posix.dirname(at), stat.linkTarget);
      }
      throw new NoSuchFile(path);
    });
    return bound(contentOf(archive, options?.maxBytes), doing, options, TRANSFER_TIMEOUT_MS);
  }

  async write(path: string, data: Readable | Uint8Array | string, options?: OperationOptions & { readonly mode?: number }): Promise<void> {
    const name = posix.normalize(path).slice(1);
    await this.call(`Writing ${path}`, options, TRANSFER_TIMEOUT_MS, async (signal) => {
      const { tar, close } = await tarOfFile(name, data, options?.mode ?? 0o644, signal);
      try {
        await this.unpack(tar, '/', signal);
      } finally {
        await close();
      }
    });
  }

  async remove(path: string, options?: OperationOptions): Promise<void> {
    await this.call(`Removing ${path}`, options, ANSWER_TIMEOUT_MS, () => this.run(['rm', '-rf', '--', path]));
  }

  async upload(tar: Readable, directory: string, options?: OperationOptions): Promise<void> {
    const folder = posix.normalize(directory);
    try {
      await this.call(`Uploading to ${directory}`, options, TRANSFER_TIMEOUT_MS, async (signal) => {
        if (!(await this.exists(folder, signal))) await this.unpack(tarOfFolder(folder.slice(1)), '/', signal);
        await this.unpack(tar, folder, signal);
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

  private call<T>(doing: string, options: OperationOptions | undefined, defaultMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.engine.call(doing, options, defaultMs, (_, signal) => work(signal));
  }

  /** The archive of one path, a link not followed; undefined if it is not there. */
  private async archive(path: string, signal: AbortSignal): Promise<{ stat: PathStat; tar: Readable } | undefined> {
    try {
      const tar = (await this.container.getArchive({ path, abortSignal: signal })) as Readable & { headers: Record<string, string> };
      const header = tar.headers['x-docker-container-path-stat'] ?? '';
      return { tar, stat: JSON.parse(Buffer.from(header, 'base64').toString()) as PathStat };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private async exists(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      const answer = (await this.container.infoArchive({ path, abortSignal: signal })) as Readable;
      answer.resume();
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  private async unpack(tar: Readable, path: string, signal: AbortSignal): Promise<void> {
    // A folder is not replaced by a file, nor a file by a folder.
    await this.container.putArchive(tar, { path, noOverwriteDirNonDir: '1', abortSignal: signal });
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
    const found = await this.archive(path, signal);
    if (found === undefined) return [];
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

const has = ({ mode }: PathStat, bits: number): boolean => (BigInt(mode) & BigInt(bits)) !== 0n;

const isMissing = (error: unknown): boolean => (statusOf(error) === 404 && !/no such container/i.test(reasonOf(error))) || /not a directory|no such file or directory/i.test(reasonOf(error));

/** Whether one of the folders above a path is in a set. */
function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = posix.dirname(path); at !== '/' && at !== '.'; at = posix.dirname(at)) if (folders.has(at)) return true;
  return false;
}
