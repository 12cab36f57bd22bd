/** Files that a trace names: only those below the trace's own folder, links resolved. */
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

const MOST = 64 << 20;

/** The real path; rejects if it lies outside, or is not there. */
export async function resolveInside(folder: string, path: string): Promise<string> {
  if (path.includes('\0') || isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/i.test(path) || path.includes('\\')) throw new Error('it is no path below the folder of the trace');
  const base = await realpath(folder);
  const below = (target: string): boolean => {
    const way = relative(base, target);
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  const target = join(base, path);
  if (!below(target)) throw new Error('it lies outside the folder of the trace');
  const real = await realpath(target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error('there is no such file') : error;
  });
  if (!below(real)) throw new Error('it lies outside the folder of the trace');
  return real;
}

export async function readInside(folder: string, path: string): Promise<Uint8Array> {
  const handle = await open(await resolveInside(folder, path), 'r');
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('it is no ordinary file');
    if (found.size > MOST) throw new Error(`it has ${found.size} bytes, more than the ${MOST} that are shown`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
