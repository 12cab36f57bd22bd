/** Files of a sandbox, as envd's Filesystem service gives them. */
import { posix } from 'node:path';
import { FileExists, NoSuchFile } from '../../sandbox/errors.js';
import type { FileInfo, Sandbox } from '../../sandbox/provider.js';
import { RpcError } from './connect.js';
import type { Machine } from './machine.js';

interface Paths {
  readonly path?: string;
  readonly depth?: number;
  readonly source?: string;
  readonly destination?: string;
}

const TYPES = { file: 'FILE_TYPE_FILE', directory: 'FILE_TYPE_DIRECTORY', other: 'FILE_TYPE_UNSPECIFIED' } as const;

export function entry(path: string, info: FileInfo): unknown {
  const letters = ['r', 'w', 'x'];
  const bits = [...Array(9).keys()].map((at) => ((info.mode >> (8 - at)) & 1 ? letters[at % 3]! : '-')).join('');
  return {
    name: posix.basename(path),
    type: TYPES[info.type],
    path,
    size: String(info.size),
    mode: info.mode,
    permissions: `${info.type === 'directory' ? 'd' : '-'}${bits}`,
    owner: 'root',
    group: 'root',
    modifiedTime: new Date(info.modified).toISOString(),
  };
}

/** As envd does: `~` and what does not begin with `/` is in the folder where commands begin. */
export async function resolvePath(machine: Machine, path: unknown): Promise<string> {
  if (typeof path !== 'string' || path.includes('\0')) throw new RpcError('invalid_argument', 'a path is expected');
  return path.startsWith('/') ? posix.normalize(path) : posix.resolve(await machine.folder(), path.replace(/^~(?=\/|$)/, '.'));
}

/** Calls of the Filesystem service by name. */
export async function filesystem(machine: Machine, method: string, { path: given, depth = 1, source, destination }: Paths): Promise<unknown> {
  const { sandbox } = machine;
  const { files } = sandbox;
  const path = await resolvePath(machine, method === 'Move' ? source : (given ?? ''));
  try {
    switch (method) {
      case 'Stat':
        return { entry: entry(path, await files.stat(path)) };
      case 'ListDir':
        return { entries: await listing(sandbox, path, depth) };
      case 'MakeDir': {
        if (await files.stat(path).catch(() => undefined)) throw new RpcError('already_exists', `directory already exists: ${path}`);
        await files.mkdir(path);
        return { entry: entry(path, await files.stat(path)) };
      }
      case 'Move': {
        const to = await resolvePath(machine, destination);
        await files.rename(path, to, { overwrite: true });
        return { entry: entry(to, await files.stat(to)) };
      }
      case 'Remove':
        await files.remove(path);
        return {};
      default:
        throw new RpcError('unimplemented', `there is no filesystem.Filesystem/${method} here`);
    }
  } catch (error) {
    if (error instanceof NoSuchFile) throw new RpcError('not_found', `path not found: ${path}`);
    if (error instanceof FileExists) throw new RpcError('already_exists', error.message);
    throw error;
  }
}

async function listing({ files }: Sandbox, folder: string, depth: number): Promise<unknown[]> {
  const found: unknown[] = [];
  const walk = async (at: string, left: number): Promise<void> => {
    for (const each of await files.list(at)) {
      found.push(entry(posix.join(at, each.name), each));
      if (left > 1 && each.type === 'directory' && !each.link) await walk(posix.join(at, each.name), left - 1);
    }
  };
  await walk(folder, depth);
  return found;
}
