/** What a container has changed against its image, as the engine's storage driver tells. */
import type Docker from 'dockerode';
import { LimitExceeded } from '../errors.js';
import { MOST_CHANGES, type FileChange } from '../provider.js';
import { EngineArchives } from './archiveAccess.js';

const KINDS = ['modified', 'added', 'removed'] as const;
/** Asked at once about what may be a folder. */
const AT_ONCE = 16;
/** What the engine, and the first process where the engine does not, put there for the container's network. */
const FOREIGN = new Set(['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/.dockerenv']);

export async function changesOf(container: Docker.Container, loose: boolean, signal: AbortSignal): Promise<FileChange[]> {
  const answer: unknown = await container.changes({ abortSignal: signal });
  // Where there are none the engines answer `null`, which the client may give as the bytes of that.
  const told = (Array.isArray(answer) ? answer : []) as readonly { readonly Path: string; readonly Kind: 0 | 1 | 2 }[];
  if (told.length > MOST_CHANGES) throw new LimitExceeded(`the sandbox has changed more than ${MOST_CHANGES} files`);
  const all = told.map(({ Path, Kind }): FileChange => ({ path: Path, kind: KINDS[Kind] })).filter(({ path }) => !FOREIGN.has(path) && !/^\/(dev|proc|sys)(\/|$)/.test(path));
  // The engine names each folder in which something has changed.
  const parents = new Set(all.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
  const unclear = all.filter(({ path, kind }) => kind === 'modified' && !parents.has(path));
  const folders = new Set<string>();
  const archives = new EngineArchives(container, loose);
  const ask = async (): Promise<void> => {
    for (let next = unclear.pop(); next !== undefined; next = unclear.pop()) if ((await archives.lookAt(next.path, signal))?.type === 'directory') folders.add(next.path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return all.filter(({ path, kind }) => kind !== 'modified' || !(parents.has(path) || folders.has(path))).sort((a, b) => (a.path < b.path ? -1 : 1));
}
