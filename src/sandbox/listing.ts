/** All that tells files of one sandbox from those of another, by path; and what follows from two of these. */
import { LimitExceeded } from './errors.js';
import { MOST_CHANGES, type FileChange } from './provider.js';

/** By path: type (`d` for a folder), and all else that tells a file from another. */
export type Listing = ReadonlyMap<string, { readonly type: string; readonly rest: string }>;

/** @throws LimitExceeded if there are more than `MOST_CHANGES` */
export function compareListings(before: Listing, after: Listing): FileChange[] {
  const changes: FileChange[] = [];
  const add = (path: string, kind: FileChange['kind']): void => {
    if (changes.push({ path, kind }) > MOST_CHANGES) throw new LimitExceeded(`more than ${MOST_CHANGES} files have changed`);
  };
  const isGone = (path: string): boolean => before.has(path) && after.get(path)?.type !== before.get(path)!.type && (!after.has(path) || before.get(path)!.type === 'd' || after.get(path)!.type === 'd');
  for (const path of before.keys()) if (isGone(path) && !isGone(path.slice(0, path.lastIndexOf('/')))) add(path, 'removed');
  for (const [path, { type, rest }] of after) {
    const then = before.get(path);
    if (!then || isGone(path)) add(path, 'added');
    else if (type !== 'd' && then.rest !== rest) add(path, 'modified');
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}
