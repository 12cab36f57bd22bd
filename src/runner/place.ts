/**
 * Where the runner of a user is found: a private folder with its socket, its token, its lock, its journal and its log. The folder is
 * `RL_SANDBOXES_RUNTIME_DIR`, else `rl-sandboxes` in `XDG_RUNTIME_DIR`, else one named after the user among the temporary files.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

export const FOLDER_VARIABLE = 'RL_SANDBOXES_RUNTIME_DIR';

export interface Place {
  readonly folder: string;
  /** Path of the socket, or name of the pipe on Windows. */
  readonly socket: string;
  readonly token: string;
  readonly journal: string;
  readonly log: string;
}

/** The folder is not private: whoever else may enter it could pose as the runner. */
export class UnsafeFolder extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnsafeFolder';
  }
}

/** Bytes of a socket's path that every system takes: `sun_path` holds 104 on macOS, 108 on Linux, with its closing zero. */
const LONGEST_SOCKET = 103;

/** Where the runner is or would be; makes nothing. */
export async function findPlace(env: NodeJS.ProcessEnv = process.env): Promise<Place> {
  const named = env[FOLDER_VARIABLE];
  if (named) return placeIn(resolve(named));
  if (process.platform === 'win32') return placeIn(join(env.LOCALAPPDATA ?? tmpdir(), 'rl-sandboxes', 'runtime'));
  // In a container or after `su` the variable may name a folder that is not there, or somebody else's.
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime && (await stat(runtime).then(({ uid }) => uid === process.getuid!(), () => false))) return placeIn(join(runtime, 'rl-sandboxes'));
  return placeIn(join(env.TMPDIR || '/tmp', `rl-sandboxes-${process.getuid!()}`));
}

/** Everything lies in the folder, unless a socket's path there would be too long: then all of it lies in a short one that stands for it. */
export function placeIn(wanted: string): Place {
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const windows = process.platform === 'win32';
  const fits = windows || Buffer.byteLength(join(wanted, 'socket')) <= LONGEST_SOCKET;
  const folder = fits ? wanted : `/tmp/rl-sandboxes-${process.getuid!()}-${digest}`;
  return {
    folder,
    socket: windows ? `\\\\.\\pipe\\rl-sandboxes-${userInfo().username}-${digest}` : join(folder, 'socket'),
    token: join(folder, 'token'),
    journal: join(folder, 'journal.json'),
    log: join(folder, 'runner.log'),
  };
}

/** Makes the folder, for its owner only, if it is not there. Rejects with `UnsafeFolder`. */
export async function makePrivate({ folder }: Place): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await checkPrivate({ folder });
}

/** Whether the folder is there. Rejects with `UnsafeFolder` if it is, and others may enter it. */
export async function checkPrivate({ folder }: Pick<Place, 'folder'>): Promise<boolean> {
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!found) return false;
  const way = `; remove it, or name another folder in ${FOLDER_VARIABLE}`;
  if (!found.isDirectory()) throw new UnsafeFolder(`${folder} is ${found.isSymbolicLink() ? 'a link' : 'no folder'}${way}`);
  // Windows keeps folders of a profile from other users by its own lists.
  if (process.platform === 'win32') return true;
  if (found.uid !== process.getuid!()) throw new UnsafeFolder(`${folder} belongs to another user (${found.uid}), who could pose as the engine${way}`);
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0) throw new UnsafeFolder(`others may enter ${folder} (its mode is ${mode.toString(8).padStart(4, '0')}): run \`chmod 700 ${folder}\``);
  return true;
}

/** Where the processes of a user agree on GPUs: a runner and every command line. Makes the private folder that it is in. */
export async function gpuFolder(place: Place): Promise<string> {
  await makePrivate(place);
  return join(place.folder, 'gpus');
}
