// Finds programs the way a shell does.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

const suffixes = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
/** Debian keeps some of root's programs in folders that are on nobody else's PATH. */
const folders = () => [...(process.env.PATH ?? '').split(delimiter), ...(process.platform === 'linux' ? ['/usr/sbin', '/sbin'] : [])].filter(Boolean);

const executable = (file) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * Path of the first of `names` that is there; absolute paths may stand among them.
 * @param {readonly string[]} names
 * @returns {Promise<string | undefined>}
 */
export async function findProgram(...names) {
  for (const name of names) {
    const candidates = name.includes('/') || name.includes('\\') ? [name] : folders().flatMap((folder) => suffixes.map((suffix) => join(folder, name + suffix)));
    for (const candidate of candidates) if (await executable(candidate)) return candidate;
  }
  return undefined;
}
