/** Files of sandboxes. What is open ends with the connection that has opened it, or when nobody has asked for it in a while. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, lstat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { posix } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import type { Held } from '../../engine/sandboxes/held.js';
import { extractArchive, packDirectory } from '../../sandbox/archive.js';
import { NoSuchFile } from '../../sandbox/errors.js';
import type { Sandbox } from '../../sandbox/provider.js';
import { MOST_PIECE, type SandboxRequests } from '../sandboxApi.js';
import type { Session } from '../session.js';
import type { Call, HandlersOf, Services } from './handlers.js';

type Requests = Extract<keyof SandboxRequests, `files/${string}`>;

const IDLE_MS = 5 * 60_000;
/** A piece is sent when there is so much of it. */
const ENOUGH = 512 << 10;
/** A file may be open for long; whoever leaves it is found out by `IDLE_MS`. */
const TRANSFER_MS = 24 * 3_600_000;
const MOST_BYTES = 2 ** 40;
const MOST_FILES = 2_000_000;

interface Reading {
  readonly kind: 'reading';
  readonly stream: Readable;
  readonly pieces: AsyncIterator<Buffer>;
}

interface Writing {
  readonly kind: 'writing';
  readonly stream: PassThrough;
  readonly written: Promise<void>;
}

type Open = (Reading | Writing) & { readonly timer: NodeJS.Timeout };

export function fileHandlers(services: Services): HandlersOf<Requests> {
  const sessions = new WeakMap<Session, Map<string, Open>>();
  const held = async ({ root, id }: { readonly root: string; readonly id: string }, call: Call): Promise<Held> => (await services.engine(root, call)).held.get(id);
  const files = async (at: { readonly root: string; readonly id: string }, call: Call) => (await held(at, call)).sandbox.files;

  const lookInto = async ({ root, id }: { readonly root: string; readonly id: string }, call: Call): Promise<Sandbox> => {
    const engine = await services.engine(root, call);
    return engine.looks.into(engine, id);
  };

  const keep = (session: Session, what: Reading | Writing): string => {
    session.closed.throwIfAborted();
    let open = sessions.get(session);
    if (!open) {
      const all = (open = new Map<string, Open>());
      sessions.set(session, open);
      session.closed.addEventListener('abort', () => [...all.keys()].forEach((handle) => close(session, handle)), { once: true });
    }
    const handle = randomUUID();
    open.set(handle, { ...what, timer: setTimeout(() => close(session, handle), IDLE_MS).unref() });
    return handle;
  };
  const take = <K extends Open['kind']>(session: Session, handle: string, kind: K): Extract<Open, { kind: K }> => {
    const open = sessions.get(session)?.get(handle);
    if (open?.kind !== kind) throw new Error('the file is not open any more');
    open.timer.refresh();
    return open as Extract<Open, { kind: K }>;
  };
  const close = (session: Session, handle: string): void => {
    const open = sessions.get(session)?.get(handle);
    sessions.get(session)?.delete(handle);
    if (!open) return;
    clearTimeout(open.timer);
    open.stream.destroy(open.kind === 'writing' ? new Error('the file was closed before it was finished') : undefined);
  };

  return {
    'files/list': async ({ path, ...at }, call) => (await files(at, call)).list(checkPath(path), { signal: call.signal }),
    'files/stat': async ({ path, ...at }, call) => (await files(at, call)).stat(checkPath(path), { signal: call.signal }),
    'files/mkdir': async ({ path, ...at }, call) => {
      await (await files(at, call)).mkdir(checkPath(path), { signal: call.signal });
      return null;
    },
    'files/rename': async ({ from, to, overwrite, ...at }, call) => {
      await (await files(at, call)).rename(checkPath(from), checkPath(to), { overwrite, signal: call.signal });
      return null;
    },
    'files/remove': async ({ path, ...at }, call) => {
      await (await files(at, call)).remove(checkPath(path), { signal: call.signal });
      return null;
    },
    'files/open': async ({ path, offset, length, original, snapshot, ...at }, call) => {
      const from = snapshot ? await lookInto(at, call) : original ? await (await held(at, call)).original() : (await held(at, call)).sandbox;
      const stream = await from.files.read(checkPath(path), { offset: count(offset), length: count(length), signal: call.signal, timeoutMs: TRANSFER_MS });
      stream.on('error', () => undefined);
      return { handle: keep(call.session, { kind: 'reading', stream, pieces: stream[Symbol.asyncIterator]() as AsyncIterator<Buffer> }) };
    },
    'files/read': async ({ handle }, { session }) => {
      const { pieces } = take(session, handle, 'reading');
      const parts: Buffer[] = [];
      let [bytes, end] = [0, false];
      try {
        while (bytes < ENOUGH && !end) {
          const next = await pieces.next();
          if (next.done) end = true;
          else bytes += parts[parts.push(next.value) - 1]!.length;
        }
      } catch (error) {
        close(session, handle);
        throw error;
      }
      if (end) close(session, handle);
      return { data: Buffer.concat(parts).toString('base64'), end };
    },
    'files/create': async ({ path, mode, size, ...at }, call) => {
      const to = await files(at, call);
      const keeps = mode ?? (await to.stat(checkPath(path), { signal: call.signal }).then((info) => info.mode, (error: unknown) => (error instanceof NoSuchFile ? undefined : Promise.reject(error))));
      const stream = new PassThrough();
      stream.on('error', () => undefined);
      const written = to.write(path, stream, { mode: keeps, size: count(size), timeoutMs: TRANSFER_MS });
      written.catch((error: Error) => stream.destroy(error));
      return { handle: keep(call.session, { kind: 'writing', stream, written }) };
    },
    'files/append': async ({ handle, data }, { session }) => {
      const { stream, written } = take(session, handle, 'writing');
      const piece = Buffer.from(data, 'base64');
      if (piece.length > MOST_PIECE) throw new Error(`a piece of a file has at most ${MOST_PIECE} bytes`);
      const taken = new Promise<void>((done, failed) => stream.write(piece, (error) => (error ? failed(error) : done())));
      await Promise.race([taken, written]);
      return null;
    },
    'files/finish': async ({ handle }, { session }) => {
      const { stream, written } = take(session, handle, 'writing');
      stream.end();
      try {
        await written;
      } finally {
        close(session, handle);
      }
      return null;
    },
    'files/close': ({ handle }, { session }) => {
      close(session, handle);
      return Promise.resolve(null);
    },
    'files/download': async ({ paths, to, ...at }, call) => download((await held(at, call)).sandbox.files, paths.map(checkPath), resolve(to), call.signal),
    'files/upload': async ({ from, to, ...at }, call) => {
      const entries = from.map((source) => ({ name: basename(resolve(source)), source: resolve(source) }));
      await (await files(at, call)).upload(packDirectory(entries), checkPath(to), { signal: call.signal, timeoutMs: TRANSFER_MS });
      return null;
    },
  };
}

/** Unpacks beside where the files go, so that they get there whole, and nothing that is there is touched. */
async function download(files: Held['sandbox']['files'], paths: readonly string[], to: string, signal: AbortSignal): Promise<{ files: number; bytes: number; skipped: string[] }> {
  await mkdir(to, { recursive: true });
  for (const path of paths) if (await lstat(join(to, posix.basename(path))).then(() => true, () => false)) throw new Error(`${join(to, posix.basename(path))} is there already`);
  const folder = await mkdtemp(join(to, '.rl-download-'));
  const skipped: string[] = [];
  try {
    const tar = await files.download(paths.map(literally), { signal, timeoutMs: TRANSFER_MS });
    const made = await extractArchive(tar, folder, { maxBytes: MOST_BYTES, maxFiles: MOST_FILES, signal, onSkip: (name, reason) => skipped.push(`${name}: ${reason}`) });
    if (made.length === 0 && skipped.length === 0) for (const path of paths) await files.stat(path, { signal });
    for (const path of paths) await rename(join(folder, path), join(to, posix.basename(path))).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : Promise.reject(error)));
    return { files: made.length, bytes: made.reduce((sum, { size }) => sum + size, 0), skipped: skipped.slice(0, 100) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A pattern that only this path matches. */
const literally = (path: string): string => path.replace(/[\\*?[\]]/g, '\\$&');

/** An absolute path in the sandbox. What `..` in it means is the sandbox's affair, and so is every link. */
function checkPath(path: string): string {
  if (typeof path !== 'string' || !path.startsWith('/') || path.includes('\0')) throw new Error('a path in a sandbox is absolute');
  return posix.normalize(path);
}

function count(value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new Error(`${value} is no number of bytes`);
}
