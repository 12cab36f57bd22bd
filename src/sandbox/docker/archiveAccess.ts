/** Ways to a container's files as archives: the engine's API, or programs inside. */
import type Docker from 'dockerode';
import type { Readable } from 'node:stream';
import { reasonOf, statusOf } from './failures.js';

/** Of a name itself, a link not followed. */
export interface PathStat {
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Permission bits with setuid, setgid and sticky, as stat(2) has them. */
  readonly mode: number;
  /** Where a link leads, as it says. */
  readonly target: string;
}

export interface Archives {
  /** Whether the archive of a link is that of what it leads to. */
  readonly followsLinks: boolean;
  /** The archive of one path, its names beginning with the last one of the path; undefined if it is not there. */
  get(path: string, signal: AbortSignal): Promise<{ stat: PathStat; tar: Readable } | undefined>;
  lookAt(path: string, signal: AbortSignal): Promise<PathStat | undefined>;
  /** Unpacks into a folder that is there. */
  put(tar: Readable, folder: string, signal: AbortSignal): Promise<void>;
}

type Answer = Readable & { readonly headers: Readonly<Record<string, string>> };

/** `loose`: whether they take a path for a pattern, and follow a link at its end. */
export class EngineArchives implements Archives {
  constructor(
    private readonly container: Docker.Container,
    readonly followsLinks: boolean,
  ) {}

  async get(path: string, signal: AbortSignal): Promise<{ stat: PathStat; tar: Readable } | undefined> {
    const tar = await this.unlessMissing(() => this.container.getArchive({ path: this.exactly(path), abortSignal: signal }));
    return tar && { tar, stat: statOf(tar.headers) };
  }

  async lookAt(path: string, signal: AbortSignal): Promise<PathStat | undefined> {
    const answer = await this.unlessMissing(() => this.container.infoArchive({ path: this.exactly(path), abortSignal: signal }));
    answer?.resume();
    return answer && statOf(answer.headers);
  }

  async put(tar: Readable, path: string, signal: AbortSignal): Promise<void> {
    // A folder is not replaced by a file, nor a file by a folder.
    await this.container.putArchive(tar, { path, noOverwriteDirNonDir: '1', abortSignal: signal });
  }

  /** A path as the archives of this engine take it. */
  private exactly(path: string): string {
    return this.followsLinks ? literally(path) : path;
  }

  private async unlessMissing(ask: () => Promise<unknown>): Promise<Answer | undefined> {
    try {
      return (await ask()) as Answer;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

/** A pattern that matches this path. Podman finds nothing by one with a star in it, so that one is written as a range of three characters round it. */
const literally = (path: string): string => path.replace(/[*?[\\]/g, (character) => (character === '*' ? '[)-+]' : character === '\\' ? '[\\\\]' : `[${character}]`));

const isMissing = (error: unknown): boolean => (statusOf(error) === 404 && !/no such container/i.test(reasonOf(error))) || /not a directory|no such file or directory/i.test(reasonOf(error));

/** Bits of a mode as the engine, written in Go, counts them. */
const GO_MODE = { directory: 2 ** 31, symlink: 2 ** 27, irregular: 2 ** 26 + 2 ** 25 + 2 ** 24 + 2 ** 21 + 2 ** 19, setuid: 2 ** 23, setgid: 2 ** 22, sticky: 2 ** 20 };

/** `mtime` is as RFC 3339 has it. */
function statOf(headers: Readonly<Record<string, string>>): PathStat {
  const text = Buffer.from(headers['x-docker-container-path-stat'] ?? '', 'base64').toString();
  const { mode, size, mtime, linkTarget } = JSON.parse(text) as { mode: number; size: number; mtime: string; linkTarget: string };
  const has = (bits: number): boolean => (BigInt(mode) & BigInt(bits)) !== 0n;
  return {
    type: has(GO_MODE.directory) ? 'directory' : has(GO_MODE.symlink) ? 'symlink' : has(GO_MODE.irregular) ? 'other' : 'file',
    size,
    modified: Date.parse(mtime),
    mode: (mode & 0o777) | (has(GO_MODE.setuid) ? 0o4000 : 0) | (has(GO_MODE.setgid) ? 0o2000 : 0) | (has(GO_MODE.sticky) ? 0o1000 : 0),
    target: linkTarget,
  };
}
