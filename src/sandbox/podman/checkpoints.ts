/**
 * Memory snapshots: the archive that Podman makes of a running container, of its processes and of the files that differ from its image, in a folder of
 * our own. Restored it has Podman and CRIU make any container, with any rights, so none is taken that Podman does not vouch for: a tag of the image bears the
 * archive's digest, which is also the snapshot's name. One that comes from a file gets that tag only if whoever made it is trusted (`seal.ts`).
 */
import type Docker from 'dockerode';
import { createHash, randomBytes, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { missingCriu } from '../docker/criu.js';
import type { Engine } from '../docker/engine.js';
import { containerName, CHECKPOINT_IMAGE } from '../docker/labels.js';
import type { Past } from '../docker/gate.js';
import type { MemorySnapshots } from '../docker/memory.js';
import { hasName, releaseImage } from '../docker/snapshots.js';
import { loadImage } from '../docker/transfer.js';
import { spawnFailure } from '../command.js';
import { SandboxError, Unsupported } from '../errors.js';
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { ProviderSnapshot, SandboxSpec } from '../provider.js';
import { carried, Carried, makersHere, readHead, requireFit, type Makers } from './carried.js';
import { checkpoint, restore, rootless } from './libpod.js';
import { redescribed } from './redescribed.js';
import type { Seals } from './seal.js';

/** Beside the archive. Its text is part of the digest. */
interface About {
  readonly past: Past;
  /** Whether it has no network but its own loopback interface. */
  readonly offline: boolean;
  readonly user?: string | undefined;
  /** Absent of one that an earlier version has taken. */
  readonly made?: Makers;
  /** Of one that came from a file: what makes its text another one each time. */
  readonly imported?: string;
}

const ARCHIVE = 'archive.tar';
const ABOUT = 'checkpoint.json';
/** Says, before it is done, which tag there may be. */
const TAGGED = 'tagged';
const REF = /^[0-9a-f]{64}$/;
const tagOf = (ref: string): string => `${CHECKPOINT_IMAGE}:${ref}`;

export class Checkpoints implements MemorySnapshots {
  private complete = false;

  constructor(
    private readonly folder: string,
    private readonly seals: Seals,
  ) {}

  /** Asked again only while something is: asking takes most of a second. */
  async missing(engine: Engine, signal: AbortSignal): Promise<string | undefined> {
    if (this.complete) return undefined;
    const { docker, endpoint } = await engine.connect();
    if (await rootless(docker)) return 'this Podman runs as an ordinary user, and CRIU needs root; use the service of root (CONTAINER_HOST=unix:///run/podman/podman.sock)';
    const missing = await missingCriu(endpoint, signal);
    this.complete = missing === undefined;
    return missing;
  }

  async take(engine: Engine, docker: Docker, container: string, { owner, past, spec }: Parameters<MemorySnapshots['take']>[3], signal: AbortSignal): Promise<Pick<ProviderSnapshot, 'ref' | 'sizeBytes'>> {
    const made = await makersHere(engine, docker, signal);
    return this.keep(docker, owner, { past, offline: spec.network !== 'full', user: spec.user, made }, async (write) => {
      const { Image } = await docker.getContainer(container).inspect();
      const ref = await write(await checkpoint(docker, container, signal));
      await docker.getImage(Image).tag({ repo: CHECKPOINT_IMAGE, tag: ref });
    }, signal);
  }

  async export(docker: Docker, ref: string): Promise<Readable> {
    const { made } = await this.about(docker, ref);
    if (!made) throw new Unsupported('the memory snapshot was taken by an earlier version, which did not note what it needs to go on elsewhere; take another one');
    const about = await readFile(join(this.at(ref), ABOUT), 'utf8');
    const image = docker.getImage(tagOf(ref));
    const head = { ref, about, bytes: await this.size(ref), layers: (await image.inspect()).RootFS?.Layers ?? [] };
    return Readable.from(carried(head, this.seals, this.archive(ref, about), async () => (await image.get()) as Readable), { objectMode: false });
  }

  async import(engine: Engine, docker: Docker, data: Readable, signal: AbortSignal): Promise<Pick<ProviderSnapshot, 'ref' | 'sizeBytes'>> {
    const stream = new Carried(data);
    const head = await readHead(stream, this.seals);
    const about = JSON.parse(head.about) as About;
    requireFit(about.made!, await makersHere(engine, docker, signal));
    return this.keep(docker, await currentOwner(), { ...about, imported: randomBytes(6).toString('hex') }, async (write) => {
      const ref = await write(checked(stream.take(head.bytes), createHash('sha256').update(head.about), head.ref));
      const { Id, RootFS } = await loadImage(docker, Readable.from(stream.rest(), { objectMode: false }), signal);
      await docker.getImage(Id).tag({ repo: CHECKPOINT_IMAGE, tag: ref });
      if (String(RootFS?.Layers) !== String(head.layers)) throw new SandboxError('the image of the memory snapshot is not the one that it was taken with');
    }, signal);
  }

  /** `fill` writes the archive, which gives it its name, and gives that name to an image. When it fails nothing is kept. */
  private async keep(docker: Docker, owner: string, about: About, fill: (write: (archive: AsyncIterable<Buffer>) => Promise<string>) => Promise<void>, signal: AbortSignal): Promise<Pick<ProviderSnapshot, 'ref' | 'sizeBytes'>> {
    await this.removeTorn(docker);
    const partial = join(this.folder, `${randomBytes(6).toString('hex')}.${owner.replaceAll(':', '_')}.partial`);
    await mkdir(partial, { recursive: true, mode: 0o700 });
    let ref = '';
    try {
      await fill(async (archive) => {
        const text = JSON.stringify(about);
        const hash = createHash('sha256').update(text);
        await pipeline(hashed(archive, hash), createWriteStream(join(partial, ARCHIVE), { mode: 0o600 }), { signal });
        await writeFile(join(partial, ABOUT), text, { mode: 0o600 });
        ref = hash.digest('hex');
        await writeFile(join(partial, TAGGED), ref);
        return ref;
      });
      signal.throwIfAborted();
      await rename(partial, this.at(ref));
      return { ref, sizeBytes: await this.size(ref) };
    } catch (error) {
      throw spawnFailure(error);
    } finally {
      await this.discard(docker, partial);
    }
  }

  async past(docker: Docker, ref: string, { network, user, resources }: SandboxSpec): Promise<Past> {
    const about = await this.about(docker, ref);
    if (about.offline !== (network !== 'full')) throw new Unsupported(`the processes of the memory snapshot have ${about.offline ? 'no network' : 'a network'}, and so does a sandbox of it: \`network: ${about.offline ? 'full' : 'none'}\` cannot be had`);
    if (about.user !== user) throw new Unsupported(`the processes of the memory snapshot run as ${about.user ?? "the image's user"}, and a sandbox of it can have no other user than that`);
    if (resources.gpu) throw new Unsupported('a sandbox of a memory snapshot has no GPU; remove `gpu`');
    return about.past;
  }

  async restore(docker: Docker, ref: string, id: string, spec: SandboxSpec): Promise<Docker.Container> {
    const about = await readFile(join(this.at(ref), ABOUT), 'utf8');
    await restore(docker, containerName(id), redescribed(this.archive(ref, about), { id, spec, image: tagOf(ref) }));
    return docker.getContainer(containerName(id));
  }

  has(docker: Docker, ref: string): Promise<boolean> {
    return this.about(docker, ref).then(() => true, (error: unknown) => {
      if (error instanceof SandboxError) return false;
      throw error;
    });
  }

  async remove(docker: Docker, ref: string, signal: AbortSignal): Promise<void> {
    const folder = this.at(ref);
    // Without its tag it is no snapshot any more, whatever is left of it.
    await releaseImage(docker, tagOf(ref), signal);
    await rm(folder, { recursive: true, force: true });
  }

  async sizes(docker: Docker, refs: readonly string[]): Promise<Map<string, number>> {
    await this.removeTorn(docker);
    const sizes = await Promise.all(refs.map(async (ref) => [ref, await this.size(ref).catch(() => undefined)] as const));
    return new Map(sizes.filter((each): each is [string, number] => each[1] !== undefined));
  }

  /** @throws SandboxError if it is gone */
  private async about(docker: Docker, ref: string): Promise<About> {
    const text = await readFile(join(this.at(ref), ABOUT), 'utf8').catch(() => undefined);
    if (text === undefined) throw new SandboxError(`the memory snapshot ${short(ref)} is gone`);
    if (!(await hasName(docker, tagOf(ref)))) throw new SandboxError(`this Podman does not know the memory snapshot ${short(ref)}: it was made by another one, or its image has been removed`);
    return JSON.parse(text) as About;
  }

  private archive(ref: string, about: string): AsyncGenerator<Buffer> {
    return checked(createReadStream(join(this.at(ref), ARCHIVE)), createHash('sha256').update(about), ref);
  }

  private size = async (ref: string): Promise<number> => (await stat(join(this.at(ref), ARCHIVE))).size;

  /** Removes what was not finished. */
  private async discard(docker: Docker, partial: string): Promise<void> {
    const ref = await readFile(join(partial, TAGGED), 'latin1').catch(() => undefined);
    if (ref !== undefined && REF.test(ref)) await releaseImage(docker, tagOf(ref)).catch(() => undefined);
    await rm(partial, { recursive: true, force: true });
  }

  /** Removes what processes left behind that died while they took one. */
  private async removeTorn(docker: Docker): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const owner = /^[0-9a-f]+\.(.+)\.partial$/.exec(name)?.[1];
      if (owner !== undefined && !(await isOwnerAlive(owner.replaceAll('_', ':')))) await this.discard(docker, join(this.folder, name));
    }
  }

  private at(ref: string): string {
    if (!REF.test(ref)) throw new SandboxError(`"${ref.slice(0, 80)}" is no memory snapshot`);
    return join(this.folder, ref);
  }
}

const short = (ref: string): string => ref.slice(0, 12);

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The bytes of the archive, and an error after the last of them unless they are those that were written. */
async function* checked(archive: AsyncIterable<Buffer>, hash: Hash, ref: string): AsyncGenerator<Buffer> {
  yield* hashed(archive, hash);
  if (hash.digest('hex') !== ref) throw new SandboxError(`the memory snapshot ${short(ref)} is not what it was when it was taken, and of no use any more`);
}
