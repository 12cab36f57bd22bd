/** Files of a simulated sandbox, as envd's Filesystem service and its `/files` give them. */
import { posix } from 'node:path';
import { FileExists, NoSuchFile } from '../../../src/sandbox/errors.js';
import type { FileInfo, Sandbox } from '../../../src/sandbox/provider.js';
import { RpcError } from './connect.js';

interface Paths {
  readonly path?: string;
  readonly depth?: number;
  readonly source?: string;
  readonly destination?: string;
}

const TYPES = { file: 'FILE_TYPE_FILE', directory: 'FILE_TYPE_DIRECTORY', other: 'FILE_TYPE_UNSPECIFIED' } as const;

function entry(path: string, info: FileInfo): unknown {
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

/** Calls of the Filesystem service by name. */
export async function filesystem(sandbox: Sandbox, method: string, { path: given, depth = 1, source, destination }: Paths): Promise<unknown> {
  const { files } = sandbox;
  const path = posix.resolve('/root', given ?? '');
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
      case 'Move':
        await files.rename(source!, destination!, { overwrite: true });
        return { entry: entry(destination!, await files.stat(destination!)) };
      case 'Remove':
        await files.remove(path);
        return {};
      default:
        throw new RpcError('unimplemented', `the simulator has no ${method}`);
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
