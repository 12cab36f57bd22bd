/** Tar streams out of and into folders of the host. What comes out of a sandbox is hostile, so unpacking trusts nothing in it. */
import { createReadStream, constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, readlink, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { insideRoot, linkStaysInside, nameInside } from './archivePath.js';
import { LimitExceeded, SandboxError } from './errors.js';

/** One file or folder to pack. */
export interface PackEntry {
  /** Name in the archive, with `/`. */
  readonly name: string;
  /** File, folder (recursive) or link of the host. */
  readonly source: string;
}

/**
 * A tar stream of a folder's content, or of several files and folders. Modes are kept, links are packed as links, empty folders as
 * folders; sockets, pipes and devices are left out. Everything belongs to root inside and has time 0, so equal content is equal bytes.
 */
export function packDirectory(source: string | readonly PackEntry[]): Readable {
  const tar = pack();
  const entries = typeof source === 'string' ? [{ name: '', source }] : source;
  const run = async (): Promise<void> => {
    for (const entry of entries) await packOne(tar, entry.name, entry.source);
    tar.finalize();
  };
  run().catch((error: Error) => tar.destroy(error));
  return Readable.from(tar, { objectMode: false });
}

async function packOne(tar: Pack, name: string, source: string): Promise<void> {
  const info = name === '' ? await stat(source) : await lstat(source);
  const header: PackHeader = { name, mode: info.mode & 0o7777, uid: 0, gid: 0, mtime: new Date(0) };
  if (info.isSymbolicLink()) return add(tar, { ...header, type: 'symlink', linkname: await readlink(source) });
  if (info.isDirectory()) {
    if (name !== '') await add(tar, { ...header, type: 'directory' });
    for (const child of (await readdir(source)).sort()) await packOne(tar, name === '' ? child : `${name}/${child}`, join(source, child));
    return;
  }
  if (!info.isFile()) return;
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ ...header, type: 'file', size: info.size }, (error) => (error ? reject(error) : resolve()));
    // A file that grows meanwhile is cut at the size in its header; one that shrinks is an error, since the archive would be broken.
    if (info.size === 0) return entry.end(Buffer.alloc(0));
    pipeline(createReadStream(source, { end: info.size - 1 }), entry as unknown as NodeJS.WritableStream).catch(reject);
  });
}

type PackHeader = Partial<Header> & Pick<Header, 'name'>;

function add(tar: Pack, header: PackHeader): Promise<void> {
  return new Promise((resolve, reject) => {
    tar.entry({ ...header, size: 0 }, (error) => (error ? reject(error) : resolve()));
  });
}

export interface ExtractOptions {
  /** Most bytes of content, all files together. */
  readonly maxBytes: number;
  /** Most entries of any kind. */
  readonly maxFiles: number;
  readonly signal?: AbortSignal;
  /** Told of every entry that was left out, and why. The name is text from the sandbox. */
  readonly onSkip?: (name: string, reason: string) => void;
  /** If given, a limit that is passed ends the unpacking with what there is by then. */
  readonly onLimit?: (why: string) => void;
  /** Takes out of names and contents what must not reach the disk. */
  readonly redactor?: { text(text: string): string; clean(source: Readable): Readable };
}

export interface ExtractedFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Bytes; 0 for a link. */
  readonly size: number;
}

/**
 * Unpacks a tar stream from a sandbox into a folder of the host, which is created. Nothing is ever written outside it or through a link:
 * absolute names, `..`, devices and pipes are skipped; links are made last, and only those whose target stays inside; hard links
 * become copies; setuid, setgid and sticky bits are cleared. Returns the files and links that were made, in the archive's order.
 *
 * @throws LimitExceeded as soon as a limit is passed, without `onLimit`; what was unpacked until then stays.
 */
export async function extractArchive(tar: Readable, directory: string, options: ExtractOptions): Promise<ExtractedFile[]> {
  await mkdir(directory, { recursive: true });
  const unpacked = new Unpacking(directory, options);
  const parser = extract();
  const feed = pipeline(tar, parser, { signal: options.signal });
  // The loop below meets the same failure; without this it would also count as unhandled.
  feed.catch(() => undefined);
  try {
    for await (const entry of parser) await unpacked.entry(entry.header, entry as unknown as Readable);
    await feed;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (options.onLimit && error instanceof LimitExceeded) {
      options.onLimit(error.message);
      return await unpacked.finish();
    }
    if (error instanceof SandboxError) throw error;
    throw new SandboxError(`the archive from the sandbox is broken: ${(error as Error).message}`, { cause: error });
  } finally {
    tar.destroy();
  }
  return unpacked.finish();
}

class Unpacking {
  private readonly made: ExtractedFile[] = [];
  private readonly files = new Map<string, number>();
  private readonly links = new Map<string, string>();
  private readonly folders = new Set<string>(['']);
  private bytes = 0;
  private entries = 0;

  constructor(
    private readonly root: string,
    private readonly options: ExtractOptions,
  ) {}

  async entry(header: Header, body: Readable): Promise<void> {
    this.options.signal?.throwIfAborted();
    if (++this.entries > this.options.maxFiles) throw new LimitExceeded(`the archive holds more than ${this.options.maxFiles} entries`);
    const clean = (text: string): string => this.options.redactor?.text(text) ?? text;
    const name = nameInside(clean(header.name));
    if (header.linkname) header.linkname = clean(header.linkname);
    const reason = name === undefined ? 'its name leads outside' : await this.unpack(name, header, body);
    if (reason !== undefined) this.options.onSkip?.(header.name, reason);
    body.resume();
  }

  /** Why the entry was skipped, or undefined. */
  private async unpack(name: string, header: Header, body: Readable): Promise<string | undefined> {
    switch (header.type) {
      case 'directory':
        return (await this.folder(name)) ? undefined : 'something else is at its place';
      case 'file':
      case 'contiguous-file':
        return this.file(name, header, body);
      case 'symlink':
        this.links.set(name, header.linkname);
        return undefined;
      case 'link':
        return this.hardLink(name, header.linkname);
      default:
        return `it is a ${header.type}`;
    }
  }

  private async file(name: string, header: Header, body: Readable): Promise<string | undefined> {
    this.count(header.size);
    if (name === '' || !(await this.folder(dirname(name)))) return 'something else is at the place of its folder';
    const target = join(this.root, name);
    const file = await open(target, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600).catch(() => undefined);
    if (file === undefined) return 'something else is at its place';
    try {
      for await (const chunk of this.options.redactor?.clean(body) ?? body) await file.writeFile(chunk as Uint8Array);
      await file.chmod(permissions(header));
    } finally {
      await file.close();
    }
    this.files.set(name, header.size);
    return undefined;
  }

  private async hardLink(name: string, linkname: string): Promise<string | undefined> {
    const source = nameInside(linkname);
    const size = source === undefined ? undefined : this.files.get(source);
    if (source === undefined || size === undefined) return 'it is a hard link to something that is not in the archive';
    if (source === name) return undefined;
    this.count(size);
    if (!(await this.folder(dirname(name)))) return 'something else is at the place of its folder';
    const there = await lstat(join(this.root, name)).catch(() => undefined);
    if (there !== undefined && !there.isFile()) return 'something else is at its place';
    await copyFile(join(this.root, source), join(this.root, name));
    this.files.set(name, size);
    return undefined;
  }

  /** Makes a folder and its parents, one by one, so that none of them is a link. False if one is not a folder. */
  private async folder(name: string): Promise<boolean> {
    if (name === '.' || this.folders.has(name)) return true;
    const parent = dirname(name);
    if (!(await this.folder(parent))) return false;
    const path = join(this.root, name);
    const made = await mkdir(path).then(
      () => true,
      () => lstat(path).then((there) => there.isDirectory(), () => false),
    );
    if (!made) return false;
    this.folders.add(name);
    return true;
  }

  private count(size: number): void {
    this.bytes += size;
    if (this.bytes > this.options.maxBytes) throw new LimitExceeded(`the archive holds more than ${this.options.maxBytes} bytes`);
  }

  /** Makes the links, now that nothing more is written. */
  async finish(): Promise<ExtractedFile[]> {
    for (const [path, size] of this.files) this.made.push({ path, size });
    for (const [name, target] of this.links) {
      const reason = await this.link(name, target);
      if (reason === undefined) this.made.push({ path: name, size: 0 });
      else this.options.onSkip?.(name, reason);
    }
    return this.made;
  }

  private async link(name: string, target: string): Promise<string | undefined> {
    if (!linkStaysInside(name, this.links)) return 'it is a link that leads outside';
    if (!insideRoot(name) || !(await this.folder(dirname(name)))) return 'something else is at the place of its folder';
    return symlink(target, join(this.root, name)).then(
      () => undefined,
      () => 'something else is at its place',
    );
  }
}

/** Permission bits without setuid, setgid and sticky; the owner can always read and write, so that the host can delete it. */
const permissions = (header: Header): number => (header.mode & 0o777) | 0o600;
