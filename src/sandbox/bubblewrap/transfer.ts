/** Snapshots as one stream: a tar of the snapshot's folder, and of its root where that came from a container image. */
import { once } from 'node:events';
import { chmod, lstat, readFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startProgram } from '../command.js';
import { SandboxError } from '../errors.js';
import type { ProviderSnapshot } from '../provider.js';
import type { Ability } from './ability.js';
import { diskFailure, removeTree, sizeOf } from './disk.js';
import { HOST_ENVIRONMENT } from './host.js';
import { IMPORTED, type Root, type Roots } from './roots.js';
import { newRef, type Layer, type Manifest, type Snapshots } from './snapshots.js';

/** Marks of overlayfs that say something about content; all other extended attributes stay behind. */
const XATTRS = ['--xattrs', '--xattrs-include=trusted.overlay.opaque', '--xattrs-include=user.overlay.opaque'];
const MOST_LAYERS = 200;

export async function exportSnapshot(snapshot: ProviderSnapshot, snapshots: Snapshots, roots: Roots, tar: string): Promise<Readable> {
  const { root } = await snapshots.source(snapshot);
  const folder = snapshots.path(snapshot.ref);
  const own = await roots.holds(root);
  const child = startProgram(tar, ['-c', '-f', '-', '--format=posix', '--sparse', '--numeric-owner', ...XATTRS, '-C', join(folder, '..'), snapshot.ref, ...(own ? ['-C', roots.folder, root.name] : [])], { stdio: ['ignore', 'pipe', 'pipe'], env: HOST_ENVIRONMENT });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)));
  // The stream ends well only if the program does.
  const stream = new PassThrough();
  child.stdout.pipe(stream, { end: false });
  child.once('error', (error) => stream.destroy(error));
  child.once('close', (code) => (code === 0 ? stream.end() : stream.destroy(new SandboxError(`the snapshot cannot be read: ${said.trim() || `tar ended with exit code ${code}`}`))));
  stream.once('close', () => child.kill('SIGKILL'));
  return stream;
}

/** Unpacks what `exportSnapshot` gave. The archive is hostile: nothing of what it says about this machine is believed. */
export async function importSnapshot(data: Readable, owner: string, snapshots: Snapshots, roots: Roots, ability: Ability, signal: AbortSignal): Promise<ProviderSnapshot> {
  let imported: string | undefined;
  try {
    return await snapshots.take(owner, async (folder) => {
      await unpack(data, folder, ability.host.tar, signal);
      const names = await readdir(folder);
      const ref = names.find((name) => /^[0-9a-f]{12}$/.test(name));
      const manifest = ref === undefined ? undefined : checked(await readFile(join(folder, ref, 'manifest.json'), 'utf8').catch(() => ''));
      if (ref === undefined || !manifest) throw new SandboxError('the file holds no snapshot of bubblewrap');
      if (manifest.marks !== ability.marks) throw new SandboxError(`the snapshot was made by ${manifest.marks === 'trusted' ? 'root' : 'an ordinary user'}, and can only be taken in by one`);
      for (let layer = 0; layer < manifest.layers; layer++) {
        const from = join(folder, ref, `l${layer}`);
        if (!(await isFolder(from)) || !(await isFolder(join(from, 'root')))) throw new SandboxError('the file holds a snapshot without its layers');
        await disarm(from, signal);
        await rename(from, join(folder, `l${layer}`));
      }
      const root = await roots.like(manifest.root, async () => {
        const fs = join(folder, names.find((name) => name === manifest.root.name && name !== ref) ?? ref, 'fs');
        if (!(await isFolder(fs))) return undefined;
        await disarm(fs, signal);
        return fs;
      });
      if (root.name.startsWith(IMPORTED)) imported = root.name;
      for (const name of names) await removeTree(join(folder, name), ability.host.chmod);
      const parts: Layer[] = [];
      for (let layer = 0; layer < manifest.layers; layer++) parts.push({ id: newRef(), bytes: await sizeOf(join(folder, `l${layer}`), ability.host.du, signal) });
      return { root, marks: manifest.marks, layers: manifest.layers, parts };
    });
  } catch (error) {
    if (imported !== undefined) await roots.remove(imported);
    throw error;
  }
}

async function unpack(data: Readable, folder: string, tar: string, signal: AbortSignal): Promise<void> {
  // Without --absolute-names it writes nowhere else, and through no link that leads out of the folder.
  const child = startProgram(tar, ['-x', '-f', '-', '-p', '--numeric-owner', ...(process.getuid?.() === 0 ? ['--same-owner'] : ['--no-same-owner']), ...XATTRS, '-C', folder], { stdio: ['pipe', 'ignore', 'pipe'], env: HOST_ENVIRONMENT, signal, killSignal: 'SIGKILL' });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)));
  const ended = once(child, 'close') as Promise<[number | null]>;
  ended.catch(() => undefined);
  const sent = await pipeline(data, child.stdin, { signal }).then(() => undefined, (error: unknown) => error);
  const [code] = await ended;
  signal.throwIfAborted();
  // A source that broke is why the program did, and says more; but a program that ended early breaks the source.
  if (data.errored && !/EPIPE|premature/i.test(data.errored.message)) throw data.errored;
  if (code !== 0) throw diskFailure('the snapshot cannot be unpacked', said || `tar ended with exit code ${code}`);
  if (sent !== undefined) throw sent;
}

/** Takes the setuid and setgid bits away, and refuses devices: on the host they would be what they say. Marks of removed files are devices 0:0. */
async function disarm(folder: string, signal: AbortSignal): Promise<void> {
  const waiting: Buffer[] = [Buffer.from(folder)];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    signal.throwIfAborted();
    for (const name of await readdir(at, { encoding: 'buffer' })) {
      const path = Buffer.concat([at, Buffer.from('/'), name]);
      const info = await lstat(path);
      if (info.isBlockDevice() || (info.isCharacterDevice() && info.rdev !== 0)) throw new SandboxError('the file holds a device, which no snapshot has');
      if (info.isFile() && (info.mode & 0o6000) !== 0) await chmod(path, info.mode & 0o1777);
      if (info.isDirectory()) waiting.push(path);
    }
  }
}

const isFolder = (path: string): Promise<boolean> => lstat(path).then((info) => info.isDirectory(), () => false);

function checked(text: string): Manifest | undefined {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text) as Manifest;
  } catch {
    return undefined;
  }
  const { root, layers, marks } = manifest ?? {};
  if (!Number.isInteger(layers) || layers < 1 || layers > MOST_LAYERS || !['trusted', 'user'].includes(marks) || !isRoot(root)) return undefined;
  return { root, layers, marks, parts: [] };
}

function isRoot(root: Root | undefined): root is Root {
  return (
    typeof root?.digest === 'string' &&
    typeof root.name === 'string' &&
    Array.isArray(root.trees) &&
    typeof root.env === 'object' &&
    Object.values(root.env ?? {}).every((value) => typeof value === 'string') &&
    (root.workdir === undefined || typeof root.workdir === 'string')
  );
}
