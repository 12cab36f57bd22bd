/**
 * A memory snapshot as one stream: a line of JSON (`Head`), the archive, and the image that it is based on as `docker save` writes it, to the end. All that the
 * head says is signed, and the archive and the image are held against it.
 */
import type Docker from 'dockerode';
import { SandboxError, Unsupported } from '../errors.js';
import { criuVersion } from '../docker/criu.js';
import type { Engine } from '../docker/engine.js';
import type { Seal, Seals } from './seal.js';

/** What made it. */
export interface Makers {
  readonly podman: string;
  /** Unknown of a service on another machine. */
  readonly criu?: string | undefined;
  /** As the engine has it: `amd64`. */
  readonly arch: string;
}

export interface Head {
  /** SHA-256 of `about` and the archive. */
  readonly ref: string;
  /** What stands beside the archive, letter by letter. */
  readonly about: string;
  /** Of the archive. */
  readonly bytes: number;
  /** Digests of the image's layers, which are the same in each engine. */
  readonly layers: readonly string[];
}

const FORMAT = 'rl-sandboxes-memory-1';
const MOST_HEAD = 256 << 10;

const signedPart = ({ ref, about, bytes, layers }: Head): string => JSON.stringify([FORMAT, ref, about, bytes, layers]);

export async function* carried(head: Head, seals: Seals, archive: AsyncIterable<Buffer>, image: () => Promise<AsyncIterable<Buffer>>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify({ format: FORMAT, ...head, seal: await seals.seal(signedPart(head)) })}\n`);
  yield* archive;
  yield* await image();
}

/** Rejects with one sentence unless whoever made it is trusted. The digest of archive and text is still to be checked. */
export async function readHead(stream: Carried, seals: Seals): Promise<Head> {
  const value = parsed(await stream.line(MOST_HEAD)) as (Partial<Head> & { format?: unknown; seal?: Partial<Seal> }) | undefined;
  if (typeof value?.format === 'string' && value.format !== FORMAT) throw new SandboxError(`the memory snapshot has the format ${JSON.stringify(value.format.slice(0, 60))}; this version reads ${FORMAT}`);
  const { ref, about, bytes, layers, seal } = value ?? {};
  const sound =
    /^[0-9a-f]{64}$/.test(String(ref)) && typeof about === 'string' && Number.isSafeInteger(bytes) && bytes! >= 0 && Array.isArray(layers) && layers.every((each) => typeof each === 'string') &&
    typeof seal?.key === 'string' && typeof seal.signature === 'string';
  if (!sound) throw new SandboxError('the file holds no memory snapshot');
  const head: Head = { ref: ref!, about, bytes: bytes!, layers };
  await seals.require(signedPart(head), seal as Seal);
  return head;
}

export async function makersHere(engine: Engine, docker: Docker, signal: AbortSignal): Promise<Makers> {
  const [{ Version, Arch }, { endpoint }] = await Promise.all([docker.version(), engine.connect()]);
  return { podman: Version, criu: await criuVersion(endpoint, signal), arch: Arch };
}

/** What Podman says of a container is its own, and CRIU reads what older ones have written. Throws `Unsupported` with one sentence. */
export function requireFit(made: Makers, here: Makers): void {
  const older = made.criu !== undefined && here.criu !== undefined && compared(here.criu, made.criu) < 0;
  if (made.podman === here.podman && made.arch === here.arch && !older) return;
  const said = ({ podman, criu, arch }: Makers): string => `Podman ${podman}${criu === undefined ? '' : `, CRIU ${criu}`} and ${arch}`;
  throw new Unsupported(`the memory snapshot was made with ${said(made)}, and here are ${said(here)}: it goes on only with the same Podman and processor and a CRIU that is not older; take along a snapshot of the files`);
}

function compared(a: string, b: string): number {
  const [left, right] = [a, b].map((each) => each.split('.').map(Number)) as [number[], number[]];
  const at = left.findIndex((part, index) => part !== (right[index] ?? 0));
  return at < 0 ? 0 : left[at]! - (right[at] ?? 0);
}

/** A stream that is read in parts of different kinds, each to its end before the next. */
export class Carried {
  private readonly chunks: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** Up to the next line feed; rejects if it is not among so many bytes. */
  async line(most: number): Promise<string> {
    for (;;) {
      const end = this.held.indexOf(10);
      if (end >= 0) {
        const line = this.held.subarray(0, end).toString();
        this.held = this.held.subarray(end + 1);
        return line;
      }
      const more = this.held.length <= most ? await this.next() : undefined;
      if (!more) throw new SandboxError('the file holds no memory snapshot');
      this.held = Buffer.concat([this.held, more]);
    }
  }

  /** So many bytes; fails if there are fewer. */
  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const chunk = this.held.length > 0 ? this.held : await this.next();
      if (!chunk) throw new SandboxError('the memory snapshot is cut');
      const part = chunk.subarray(0, left);
      this.held = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    for (let chunk: Buffer | undefined = this.held; chunk; chunk = await this.next()) if (chunk.length > 0) yield chunk;
  }

  private async next(): Promise<Buffer | undefined> {
    const next = await this.chunks.next();
    return next.done ? undefined : next.value;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
