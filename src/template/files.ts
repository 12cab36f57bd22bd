/** Files of the host as a build copies them: walked in one fixed order, links as links, nothing but files, folders and links. */
import { constants, lstat, open, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { quotePath } from './text.js';

export interface HostFile {
  /** Relative to what was walked, with `/`; empty for the thing itself. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  /** Permission bits; 0 for a link, which has none of its own. */
  readonly mode: number;
  /** Target of a link. */
  readonly target?: string;
  /** SHA-256 of a file's content, hex. */
  readonly content?: string;
}

/** Something that cannot be copied into a sandbox. */
export class NotCopyable extends Error {}

/**
 * All that lies at a path of the host, parents before children, siblings by the code units of their names.
 *
 * @throws NotCopyable at a socket, pipe or device, and where a file cannot be read.
 */
export async function* hashFiles(source: string, signal?: AbortSignal, relative = ''): AsyncGenerator<HostFile> {
  signal?.throwIfAborted();
  const absolute = path.join(source, relative);
  try {
    const info = await lstat(absolute);
    const mode = info.mode & 0o7777;
    if (info.isSymbolicLink()) yield { path: relative, kind: 'link', mode: 0, target: await readlink(absolute) };
    else if (info.isFile()) yield { path: relative, kind: 'file', mode, content: await hashContent(absolute, signal) };
    else if (info.isDirectory()) {
      yield { path: relative, kind: 'folder', mode };
      for (const child of (await readdir(absolute)).sort()) yield* hashFiles(source, signal, relative ? `${relative}/${child}` : child);
    } else throw new NotCopyable(`${quotePath(absolute)} is a device, pipe or socket: only files, folders and links can be copied into a sandbox`);
  } catch (error) {
    if (error instanceof NotCopyable || signal?.aborted) throw error;
    throw new NotCopyable(`${quotePath(absolute)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function hashContent(file: string, signal?: AbortSignal): Promise<string> {
  // What was a file a moment ago may be a pipe by now, and opening that would wait for ever.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    if (!(await handle.stat()).isFile()) throw new NotCopyable(`${quotePath(file)} is no longer a file`);
    const hash = createHash('sha256');
    for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 2 ** 20 })) {
      signal?.throwIfAborted();
      hash.update(chunk as Uint8Array);
    }
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}
