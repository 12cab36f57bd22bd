/** What is other in a snapshot than in the one that it was made from: the files of two sandboxes, one of each, side by side. */
import { buffer } from 'node:stream/consumers';
import { LimitExceeded, SandboxError } from '../../sandbox/errors.js';
import { compareListings, type Listing } from '../../sandbox/listing.js';
import { MOST_CHANGES, type FileChange, type Sandbox } from '../../sandbox/provider.js';
import type { Engine } from '../engine.js';

export interface SnapshotChanges {
  /** Id of the one that it was made from. */
  readonly parent: string;
  /** Files and links, each by itself: of a folder that came or went, those in it. */
  readonly changes: readonly FileChange[];
}

/** Rejects with one sentence if it has no parent, or that is gone; `LimitExceeded` if more than `MOST_CHANGES` files are other ones. */
export async function changesOfSnapshot(engine: Engine, id: string, signal: AbortSignal): Promise<SnapshotChanges> {
  const { parent, origin } = await engine.snapshots.find(id);
  if (parent === undefined) throw new Error(`the snapshot ${id} was ${origin === 'import' ? 'imported' : 'built'}, not made from another one`);
  const [before, after] = await Promise.all([parent, id].map(async (each) => listingOf(await engine.looks.into(engine, each), signal)));
  const changes = compareListings(before!, after!).flatMap((change) => filesOf(change, change.kind === 'removed' ? before! : after!));
  if (changes.length > MOST_CHANGES) throw new LimitExceeded(`more than ${MOST_CHANGES} files are other ones`);
  return { parent, changes };
}

/** What `compareListings` tells of one folder that is gone stands for all below; one that came is told with all below. */
function filesOf({ path, kind }: FileChange, side: Listing): FileChange[] {
  const isFile = (at: string): boolean => FILES.has(side.get(at)!.type);
  if (kind !== 'removed' || side.get(path)!.type !== 'd') return isFile(path) ? [{ path, kind }] : [];
  return [...side.keys()].filter((at) => at.startsWith(`${path}/`) && isFile(at)).map((at) => ({ path: at, kind }));
}

/** Types as GNU's `find` calls them, by the first digit of `st_mode` in base 16. */
const TYPES: Readonly<Record<string, string>> = { 4: 'd', 8: 'f', a: 'l' };
const FILES = new Set(['f', 'l']);

const LIST_TIMEOUT_MS = 180_000;
/** What is no part of the disk; the last one holds what providers note inside. */
const FIND = 'find / \\( -path /proc -o -path /sys -o -path /dev -o -path /var/lib/rl-sandboxes \\) -prune -o';
/**
 * Prints what is mounted, all paths, and in their order how each is: with no name among what is read by lines. GNU's `find` tells itself how a
 * file is; BusyBox's cannot.
 */
const LIST = `exec 2>/dev/null; cat /proc/self/mountinfo; printf '\\0'; ${FIND} -print0; printf '\\0'
if find / -maxdepth 0 -printf ''; then ${FIND} -printf '%y %m %U %G %s %T@\\n'; else ${FIND} -exec stat -c 'x%f %u %g %s %y' {} +; fi
:`;

async function listingOf(sandbox: Sandbox, signal: AbortSignal): Promise<Listing> {
  const child = sandbox.exec(['sh', '-c', LIST], { signal, timeoutMs: LIST_TIMEOUT_MS });
  child.stderr.resume();
  const [out] = await Promise.all([buffer(child.stdout), child.exit]);
  const listing = readListing(out.toString());
  if (!listing) throw new SandboxError('the files of the snapshot cannot be listed: it has no `find` that prints what it finds');
  return listing;
}

/** Undefined if it is cut, or the two parts do not fit. */
function readListing(text: string): Listing | undefined {
  const [mounts, rest] = split(text, '\0');
  const [names, stats] = split(rest, '\0\0');
  const paths = names.split('\0');
  const lines = stats.trimEnd().split('\n');
  if (paths[0] !== '/' || paths.length !== lines.length) return undefined;
  const apart = apartFrom(mounts);
  const listing = new Map<string, { type: string; rest: string }>();
  for (const [index, path] of paths.entries()) {
    if (apart.some((place) => path === place || path.startsWith(`${place}/`))) continue;
    const line = lines[index]!;
    listing.set(path, { type: line.startsWith('x') ? (TYPES[line[1]!] ?? 'o') : line[0]!, rest: line });
  }
  return listing;
}

/** Files that a container is given by its engine, each another one. */
const GIVEN = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/etc/mtab', '/.dockerenv', '/run/.containerenv'];

/** What is no part of the snapshot: what lives in memory, and what a container's engine gives. */
function apartFrom(mountinfo: string): string[] {
  const inMemory = mountinfo.split('\n').flatMap((line) => {
    const words = line.split(' ');
    const [at, kind] = [words[4], words[words.indexOf('-') + 1]];
    return at === undefined || at === '/' || kind !== 'tmpfs' ? [] : [at.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))];
  });
  return /\boverlay\b/.test(mountinfo) && / \/etc\/hosts /.test(mountinfo) ? [...inMemory, ...GIVEN] : inMemory;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
