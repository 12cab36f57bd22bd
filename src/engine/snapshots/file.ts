/**
 * A snapshot as one file: a tar of `manifest.json`, which says what it is, the provider's stream in pieces `payload/000000`, ..., and
 * `digest.json`, the SHA-256 and the length of the stream. It is written and read in one go, with one piece in memory.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { AllowList } from '../../sandbox/network/allowList.js';
import type { NetworkPolicy, SandboxSettings, SnapshotKind } from '../../sandbox/provider.js';
import type { SnapshotRecord } from '../../store/records.js';

type Entry = Readable & { readonly header: Header };

const FORMAT = 'rl-sandboxes-snapshot-1';
const PIECE = 4 << 20;
const MOST_MANIFEST = 1 << 20;
const USER = /^[a-z0-9_][a-z0-9_-]{0,31}(:[a-z0-9_][a-z0-9_-]{0,31})?$/;
const FOLDER = /^\/(?!(.*\/)?\.\.(\/|$))[^\u0000-\u001f\u007f-\u009f]+$/;

export type Manifest = Pick<SnapshotRecord, 'provider' | 'kind' | 'template' | 'digest' | 'parts' | 'base' | 'createdAt' | 'name' | 'note' | 'settings'>;

/** It is no such file, or not all of it is as it was written. */
export class SnapshotFileError extends Error {
  constructor(file: string, why: string, options?: { cause?: unknown }) {
    super(`${file} cannot be imported: ${why}`, options);
    this.name = 'SnapshotFileError';
  }
}

/** Resolves with the bytes of the file. When it fails there is no file. */
export async function writeSnapshotFile(file: string, manifest: Manifest, payload: Readable, signal: AbortSignal): Promise<number> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  const output = (await open(partial, 'wx').catch((error: unknown) => giveUp(payload, error))).createWriteStream();
  const tar = pack();
  const written = pipeline(tar as unknown as Readable, output, { signal });
  written.catch(() => undefined);
  try {
    await add(tar, 'manifest.json', Buffer.from(JSON.stringify({ format: FORMAT, ...manifest })), written);
    const hash = createHash('sha256');
    let [number, bytes] = [0, 0];
    for await (const piece of pieces(payload)) {
      hash.update(piece);
      bytes += piece.length;
      await add(tar, pieceName(number++), piece, written);
    }
    await add(tar, 'digest.json', Buffer.from(JSON.stringify({ sha256: hash.digest('hex'), bytes })), written);
    tar.finalize();
    await written;
    await rename(partial, file);
    return output.bytesWritten;
  } catch (error) {
    payload.destroy();
    tar.destroy();
    await written.catch(() => undefined);
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}

/** A stream that nobody will read must be told so: a program writes it. */
function giveUp(payload: Readable, error: unknown): never {
  payload.destroy();
  throw error;
}

/** What is in a file: the payload fails where it is not all there, or not as it was written. It must be read or destroyed. */
export async function readSnapshotFile(file: string): Promise<{ manifest: Manifest; payload: Readable }> {
  const parser = extract();
  const source = createReadStream(file);
  const feed = pipeline(source, parser);
  feed.catch(() => undefined);
  const entries = parser[Symbol.asyncIterator]() as AsyncIterator<Entry>;
  const next = async (): Promise<Entry | undefined> => {
    const { value, done } = (await entries.next().catch((error: Error) => {
      throw error.message.startsWith('ENOENT') ? error : new SnapshotFileError(file, 'it is no snapshot file, or broken', { cause: error });
    })) as IteratorResult<Entry, undefined>;
    return done ? undefined : value;
  };
  try {
    const first = await next();
    if (first?.header.name !== 'manifest.json' || first.header.size > MOST_MANIFEST) throw new SnapshotFileError(file, 'it is no snapshot file');
    const manifest = checked(file, (await whole(file, first)).toString());
    return { manifest, payload: Readable.from(content(file, next, () => source.destroy()), { objectMode: false }) };
  } catch (error) {
    source.destroy();
    throw error;
  }
}

async function* content(file: string, next: () => Promise<Entry | undefined>, close: () => void): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for (let number = 0; ; number++) {
      const entry = await next();
      if (!entry) throw new SnapshotFileError(file, 'its end is missing');
      if (entry.header.size > PIECE) throw new SnapshotFileError(file, 'it is broken');
      const piece = await whole(file, entry);
      if (entry.header.name === 'digest.json') {
        const told = parsed(piece.toString()) as { sha256?: unknown; bytes?: unknown } | undefined;
        if (told?.sha256 !== hash.digest('hex') || told.bytes !== bytes) throw new SnapshotFileError(file, 'its content is not what was exported');
        return;
      }
      if (entry.header.name !== pieceName(number)) throw new SnapshotFileError(file, 'a part of it is missing');
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  } finally {
    close();
  }
}

const whole = (file: string, entry: Entry): Promise<Buffer> =>
  buffer(entry).catch((error: unknown) => {
    throw new SnapshotFileError(file, 'it is cut', { cause: error });
  });

const pieceName = (number: number): string => `payload/${String(number).padStart(6, '0')}`;

async function* pieces(payload: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PIECE - length);
      held.push(part);
      length += part.length;
      at += part.length;
      if (length < PIECE) continue;
      yield Buffer.concat(held);
      [held, length] = [[], 0];
    }
  }
  if (length > 0) yield Buffer.concat(held);
}

/** Waits until the archive has taken it, or cannot be written. */
async function add(tar: Pack, name: string, data: Buffer, written: Promise<void>): Promise<void> {
  const taken = new Promise<void>((resolve, reject) => void tar.entry({ name, mode: 0o644, mtime: new Date(0) }, data, (error) => (error ? reject(error) : resolve())));
  await Promise.race([taken, written.then(() => new Promise<never>(() => undefined))]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What is not well-formed is not taken. */
function restrictions(settings: Partial<SandboxSettings> | undefined): Pick<SandboxSettings, 'isolation' | 'user' | 'writable'> {
  const { isolation, user, writable } = settings ?? {};
  return {
    isolation: isolation === 'gvisor' ? isolation : undefined,
    user: typeof user === 'string' && USER.test(user) ? user : undefined,
    writable: Array.isArray(writable) ? writable.filter((folder: unknown) => typeof folder === 'string' && folder.length < 4096 && FOLDER.test(folder)) : undefined,
  };
}

/** Nothing of it names a path or a process here; texts are cut to what a list can show. */
function checked(file: string, text: string): Manifest {
  const value = parsed(text) as (Partial<Manifest> & { format?: unknown }) | undefined;
  const isText = (each: unknown, most: number): each is string => typeof each === 'string' && each.length <= most;
  const isMap = (each: unknown): each is Record<string, unknown> => typeof each === 'object' && each !== null && !Array.isArray(each);
  if (value?.format !== FORMAT) throw new SnapshotFileError(file, typeof value?.format === 'string' ? `its format is ${JSON.stringify(value.format.slice(0, 60))}; this version reads ${FORMAT}` : 'it is no snapshot file');
  const { provider, kind, template, digest, parts, base, createdAt, name, note, settings } = value;
  const sound =
    isText(provider, 63) && /^[a-z0-9-]+$/.test(provider) && ['filesystem', 'memory'].includes(kind as string) && isText(template, 63) && /^[a-z0-9][a-z0-9._-]*$/.test(template) &&
    isText(digest, 128) && /^[0-9a-f]+$/.test(digest) && isMap(parts) && Object.values(parts).every((each) => isText(each, 128)) && isText(base, 1000) && Number.isFinite(createdAt);
  if (!sound) throw new SnapshotFileError(file, 'what it says of itself is not complete');
  const env = isMap(settings?.env) ? Object.fromEntries(Object.entries(settings.env).filter((pair): pair is [string, string] => /^[A-Za-z_][A-Za-z0-9_]*$/.test(pair[0]) && isText(pair[1], 65_536))) : {};
  const limit = (each: unknown): number | undefined => (typeof each === 'number' && Number.isFinite(each) && each > 0 ? each : undefined);
  const { cpu, memory, pids, disk } = (isMap(settings?.resources) ? settings.resources : {});
  return {
    ...{ provider, template, digest, base },
    kind: kind as SnapshotKind,
    parts: parts,
    createdAt: createdAt!,
    name: isText(name, 100) ? name.replace(/\p{Cc}/gu, ' ') : undefined,
    note: isText(note, 2000) ? note : undefined,
    settings: { env, resources: { cpu: limit(cpu), memory: limit(memory), pids: limit(pids), disk: limit(disk) }, network: networkOf(settings?.network), ...restrictions(settings) },
  };
}

/** A list that this version does not understand allows nothing. */
function networkOf(network: unknown): NetworkPolicy {
  const { allow } = (typeof network === 'object' && network !== null ? network : {}) as { allow?: unknown };
  if (!Array.isArray(allow)) return network === 'full' ? 'full' : 'none';
  try {
    return { allow: new AllowList(allow.map(String)).entries };
  } catch {
    return 'none';
  }
}
