/** Snapshots as one stream: the archive that `docker save` makes of an image, and its sizes by layer. */
import type Docker from 'dockerode';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { SandboxError } from '../errors.js';
import type { ProviderSnapshot, SnapshotSizes } from '../provider.js';
import { BASE_LAYERS_LABEL, SNAPSHOT_LABEL } from './labels.js';
import { progressEvents, progressText } from './progress.js';
import { snapshotName } from './snapshots.js';
import type { Engine } from './engine.js';

/** Most bytes of the files of an archive that say what is in it. */
const MOST_INDEX = 1 << 20;

/** Takes an archive in, checks that it is a snapshot, and gives it a name of our own. */
export async function loadSnapshot(engine: Engine, docker: Docker, data: Readable, signal: AbortSignal): Promise<ProviderSnapshot> {
  const { Id: ref, Config } = await loadImage(docker, data, signal);
  const { Labels: labels } = Config;
  const image = docker.getImage(ref);
  const [repo, tag] = snapshotName({ owner: '', expires: 0, template: labels['rl-sandboxes.template'], digest: labels['rl-sandboxes.digest'] });
  await image.tag({ repo, tag });
  const [layer] = (await image.history()) as { Size: number }[];
  return { provider: engine.kind.id, kind: 'filesystem', ref, sizeBytes: layer?.Size ?? 0 };
}

/** Takes the image of a snapshot in, which gets no name, and keeps those that it has. */
export async function loadImage(docker: Docker, data: Readable, signal: AbortSignal): Promise<Docker.ImageInspectInfo> {
  const filtered = nameless(data, signal);
  const answer = (await docker.loadImage(filtered, { quiet: true, abortSignal: signal } as object)) as unknown as Readable;
  let said = '';
  for await (const event of progressEvents(answer)) {
    if (event.error !== undefined) throw new SandboxError(`the engine does not take the snapshot: ${event.errorDetail?.message ?? event.error}`);
    said += progressText(event);
  }
  if (filtered.errored) throw filtered.errored;
  const id = /sha256:[0-9a-f]{64}/.exec(said)?.[0];
  if (id === undefined) throw new SandboxError('the file holds no snapshot of this provider');
  const image = await docker.getImage(id).inspect();
  if ((image.Config.Labels as Record<string, string> | null)?.[SNAPSHOT_LABEL] === '1') return { ...image, Id: id };
  // One that was there before has names.
  if ((image.RepoTags ?? []).length === 0) await docker.getImage(id).remove({ noprune: true }).catch(() => undefined);
  throw new SandboxError('the file holds an image that is no snapshot');
}

/** The archive with the same content but no names: the engine would give names in it to the image, and take them from others. */
function nameless(data: Readable, signal: AbortSignal): Readable {
  const to = pack();
  const parser = extract();
  const run = async (): Promise<void> => {
    const feed = pipeline(data, parser, { signal });
    feed.catch(() => undefined);
    for await (const entry of parser) {
      const { header } = entry as unknown as { header: Header };
      const body = entry as unknown as Readable;
      if (header.name === 'repositories') body.resume();
      else if (header.name === 'manifest.json') await add(to, header, withoutNames(await index(body, header), ['RepoTags']));
      else if (header.name === 'index.json') await add(to, header, withoutNames(await index(body, header), ['annotations']));
      else await copy(body, to, header);
    }
    await feed;
    to.finalize();
  };
  run().catch((error: Error) => to.destroy(data.errored ?? error));
  return Readable.from(to, { objectMode: false });
}

async function index(body: Readable, { name, size }: Header): Promise<unknown> {
  if (size > MOST_INDEX) throw new SandboxError(`the file holds no snapshot: its ${name} is too large`);
  try {
    return JSON.parse((await buffer(body)).toString()) as unknown;
  } catch (error) {
    throw new SandboxError(`the file holds no snapshot: its ${name} cannot be read`, { cause: error });
  }
}

/** JSON without some keys, wherever they stand. */
const withoutNames = (value: unknown, keys: readonly string[]): string => JSON.stringify(value, (key, each: unknown) => (keys.includes(key) ? undefined : each));

function add(to: Pack, { name, mode }: Header, content: string): Promise<void> {
  return new Promise((resolve, reject) => void to.entry({ name, mode }, content, (error) => (error ? reject(error) : resolve())));
}

function copy(body: Readable, to: Pack, { name, mode, size, type, linkname }: Header): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new SandboxError('the Docker engine stopped reading the snapshot'));
    to.once('close', gone);
    const done = (error?: Error | null): void => {
      to.off('close', gone);
      if (error) reject(error);
      else resolve();
    };
    const sink = to.entry({ name, mode, size, type, linkname: linkname ?? undefined }, done);
    if (type === 'file' || type === 'contiguous-file') pipeline(body as unknown as NodeJS.ReadableStream, sink as unknown as NodeJS.WritableStream).catch(reject);
    else body.resume();
  });
}

/** Layers above what the first build started from, each counted once. A commit's layer and its entry in the history stand at the same place from above. */
export async function sizesOf(docker: Docker, snapshots: readonly ProviderSnapshot[]): Promise<SnapshotSizes> {
  const layers = new Map<string, { bytes: number; uses: number }>();
  const parts = new Map<string, readonly string[]>();
  for (const { ref } of snapshots) {
    const image = docker.getImage(ref);
    const [about, history] = await Promise.all([image.inspect(), image.history() as Promise<{ Size: number }[]>]).catch(() => []);
    if (!about || !history) continue;
    const all = about.RootFS?.Layers ?? [];
    const base = Number((about.Config.Labels as Record<string, string> | null)?.[BASE_LAYERS_LABEL] ?? all.length - 1);
    const own = all.slice(base);
    // Equal content over another base is another layer on disk.
    const ids = own.map((_, at) => all.slice(0, base + at + 1).join());
    parts.set(ref, ids);
    ids.forEach((id, at) => {
      const known = layers.get(id);
      if (known) known.uses += 1;
      else layers.set(id, { bytes: history[own.length - 1 - at]?.Size ?? 0, uses: 1 });
    });
  }
  const alone = (ids: readonly string[]): number => ids.reduce((sum, id) => sum + (layers.get(id)!.uses === 1 ? layers.get(id)!.bytes : 0), 0);
  return { total: [...layers.values()].reduce((sum, { bytes }) => sum + bytes, 0), own: new Map([...parts].map(([ref, ids]) => [ref, alone(ids)])) };
}
