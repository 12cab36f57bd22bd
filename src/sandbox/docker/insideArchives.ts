/**
 * Archives by programs of the sandbox, as its user. The engine's own archives are root's, know nothing of what is mounted within the sandbox, and are not what a
 * kernel in user space, such as gVisor's, has in its caches.
 */
import { posix } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { LimitExceeded, SandboxError, Unsupported } from '../errors.js';
import type { ExecOptions, ExecProcess } from '../provider.js';
import type { Archives, PathStat } from './archiveAccess.js';
import { HOW_TO_STAT, MISSING } from './shell.js';

/** `sh -c LOOK sh PATH`: mode (hexadecimal), bytes and seconds, and in the lines after them where a link leads. */
const LOOK = `[ -e "$1" ] || [ -L "$1" ] || exit ${MISSING}
${HOW_TO_STAT}
stat $c -c '%f %s %Y' -- "$1" || exit
[ -L "$1" ] && readlink -n -- "$1"
:`;
const PACK = 'cd -- "$1" && shift && exec tar -c -f - "$@"';
const UNPACK = 'cd -- "$1" && exec tar -x -o -p -f -';
/** What the kernel puts there. */
const FOREIGN = ['proc', 'sys', 'dev'].map((name) => `--exclude=./${name}`);
/** With which `tar` ends when something changed while it was read. */
const CHANGED = 1;

const TYPES: Readonly<Partial<Record<number, PathStat['type']>>> = { 0o100000: 'file', 0o040000: 'directory', 0o120000: 'symlink' };

export class InsideArchives implements Archives {
  readonly followsLinks = false;

  constructor(private readonly exec: (argv: readonly string[], options?: ExecOptions) => ExecProcess) {}

  async lookAt(path: string, signal: AbortSignal): Promise<PathStat | undefined> {
    const child = this.exec(['sh', '-c', LOOK, 'sh', path], { signal });
    const [said, errors, { code }] = await Promise.all([buffer(child.stdout), text(child.stderr), child.exit]);
    if (code === MISSING) return undefined;
    if (code === 127) throw new Unsupported('files can only be looked at where the image has the program stat (coreutils, busybox)');
    if (code !== 0) throw new SandboxError(`${path} cannot be looked at: ${errors.trim() || `exit code ${code}`}`);
    const [line = '', ...rest] = said.toString().split('\n');
    const [mode, size, seconds] = line.split(' ');
    const bits = Number.parseInt(mode!, 16);
    return { type: TYPES[bits & 0o170000] ?? 'other', size: Number(size), modified: Number(seconds) * 1000, mode: bits & 0o7777, target: rest.join('\n') };
  }

  async get(path: string, signal: AbortSignal): Promise<{ stat: PathStat; tar: Readable } | undefined> {
    const stat = await this.lookAt(path, signal);
    if (stat === undefined) return undefined;
    const what = path === '/' ? [...FOREIGN, '.'] : [`./${posix.basename(path)}`];
    const stop = new AbortController();
    const child = this.exec(['sh', '-c', PACK, 'sh', posix.dirname(path), ...what], { signal: stop.signal });
    const errors = text(child.stderr);
    const tar = new PassThrough();
    const end = async (): Promise<void> => {
      const [{ code }, said] = await Promise.all([child.exit, errors]);
      // Of a folder, what cannot be read is left out.
      if (code > CHANGED && stat.type !== 'directory') throw new SandboxError(`${path} cannot be read: ${said.trim() || `exit code ${code}`}`);
    };
    child.stdout.once('close', () => void end().then(() => tar.end(), (error: Error) => tar.destroy(error)));
    child.stdout.pipe(tar, { end: false });
    // What nobody reads any more is not packed.
    tar.once('close', () => {
      errors.catch(() => undefined);
      stop.abort(new Error('the archive is not read any more'));
      child.stdout.destroy();
    });
    return { stat, tar };
  }

  async put(tar: Readable, folder: string, signal: AbortSignal): Promise<void> {
    const child = this.exec(['sh', '-c', UNPACK, 'sh', folder], { stdin: tar, signal });
    child.stdout.resume();
    const [{ code }, said] = await Promise.all([child.exit, text(child.stderr)]);
    if (code === 0) return;
    const message = `files cannot be written below ${folder}: ${said.trim() || `exit code ${code}`}`;
    throw /No space left|quota exceeded|File too large/i.test(said) ? new LimitExceeded(message) : new SandboxError(message);
  }
}
