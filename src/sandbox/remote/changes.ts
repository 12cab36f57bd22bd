/** What a sandbox has changed: its files beside those of a fresh one of the same snapshot, since the service has no such call. */
import { compareListings, type Listing } from '../listing.js';
import type { FileChange } from '../provider.js';

/** Of what `find` has printed: descriptions and paths in turn, each ended by NUL. */
export function readListing(text: string): Listing {
  const words = text.split('\0');
  const listing = new Map<string, { type: string; rest: string }>();
  for (let at = 0; at + 1 < words.length; at += 2) listing.set(words[at + 1]!, { type: words[at]![0]!, rest: words[at]! });
  return listing;
}

export interface Sides {
  /** Of the sandbox: what was changed since it was restored, folders in which something was added or removed too. */
  readonly changed: () => Promise<Listing>;
  /** Of the sandbox, or of a fresh one of the same snapshot: these paths, and so many levels of what is in them. */
  readonly look: (side: 'now' | 'then', paths: readonly string[], depth: number) => Promise<Listing>;
}

const DEEPEST = 1000;

/** Another sandbox is asked only where something was changed at all. */
export async function findChanges({ changed, look }: Sides): Promise<FileChange[]> {
  const touched = await changed();
  if (touched.size === 0) return [];
  const paths = [...touched.keys()];
  const [now, then] = await Promise.all([look('now', paths, 1), look('then', paths, 1)]);
  // A folder that was moved there brings along what has not changed itself.
  const folders = [...now].filter(([path, { type }]) => type === 'd' && !then.has(path)).map(([path]) => path);
  const below = folders.length > 0 ? await look('now', folders, DEEPEST) : [];
  return compareListings(then, new Map([...now, ...below]));
}
