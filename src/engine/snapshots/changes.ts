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
  const sandboxes = await Promise.all([parent, id].map((each) => engine.looks.into(engine, each)));
  const [before, after] = (await Promise.all(sandboxes.map((sandbox) => listingOf(sandbox, signal)))) as [Files, Files];
  const unclear = [...after].filter(([path, file]) => isUnclear(before.get(path), file)).map(([path]) => path);
  const digests = unclear.length > 0 ? await Promise.all(sandboxes.map((sandbox) => digestsOf(sandbox, unclear, signal))) : [];
  const rewritten = unclear.filter((_, index) => digests[0]![index] !== digests[1]![index]).map((path): FileChange => ({ path, kind: 'modified' }));
  const told = compareListings(before, after).flatMap((change) => filesOf(change, change.kind === 'removed' ? before : after));
  const changes = [...told, ...rewritten].sort((a, b) => (a.path < b.path ? -1 : 1));
  if (changes.length > MOST_CHANGES) throw new LimitExceeded(`more than ${MOST_CHANGES} files are other ones`);
  return { parent, changes };
}

interface File {
  /** `d`, `f`, `l`, or another letter. */
  readonly type: string;
  /** Mode, owner, size and time of its content. */
  readonly rest: string;
  /** When the file system last wrote anything of it, which nobody in a sandbox can set. */
  readonly touched: string;
}
type Files = ReadonlyMap<string, File>;

/** Written again with the same size and time. What both snapshots share lies on disk once and was touched once, so these are few. */
const isUnclear = (before: File | undefined, after: File): boolean => before?.rest === after.rest && before.touched !== after.touched && FILES.has(after.type);

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
if find / -maxdepth 0 -printf ''; then ${FIND} -printf '%y %m %U %G %s %T@|%C@\\n'; else ${FIND} -exec stat -c 'x%f %u %g %s %y|%z' {} +; fi
:`;

async function listingOf(sandbox: Sandbox, signal: AbortSignal): Promise<Files> {
  const child = sandbox.exec(['sh', '-c', LIST], { signal, timeoutMs: LIST_TIMEOUT_MS });
  child.stderr.resume();
  const [out] = await Promise.all([buffer(child.stdout), child.exit]);
  const listing = readListing(out.toString());
  if (!listing) throw new SandboxError('the files of the snapshot cannot be listed: it has no `find` that prints what it finds');
  return listing;
}

/** Of what paths on its input hold, or lead to: a line each. Names are never printed, since they may have more than one. */
const DIGEST = `exec xargs -0 sh -c 'for f; do if [ -h "$f" ]; then readlink "$f" | sha256sum; else sha256sum < "$f"; fi; done' digest`;

async function digestsOf(sandbox: Sandbox, paths: readonly string[], signal: AbortSignal): Promise<string[]> {
  const child = sandbox.exec(['sh', '-c', DIGEST], { stdin: paths.map((path) => `${path}\0`).join(''), signal, timeoutMs: LIST_TIMEOUT_MS });
  child.stderr.resume();
  const [out] = await Promise.all([buffer(child.stdout), child.exit]);
  const digests = out.toString().trimEnd().split('\n');
  if (digests.length !== paths.length) throw new SandboxError('the files of the snapshot cannot be compared: it has no `xargs` or no `sha256sum`');
  return digests;
}

/** Undefined if it is cut, or the two parts do not fit. */
function readListing(text: string): Files | undefined {
  const [mounts, rest] = split(text, '\0');
  const [names, stats] = split(rest, '\0\0');
  const paths = names.split('\0');
  const lines = stats.trimEnd().split('\n');
  if (paths[0] !== '/' || paths.length !== lines.length) return undefined;
  const apart = [...inMemory(mounts), ...(MARKS.some((mark) => paths.includes(mark)) ? GIVEN : [])];
  const listing = new Map<string, File>();
  for (const [index, path] of paths.entries()) {
    if (apart.some((place) => path === place || path.startsWith(`${place}/`))) continue;
    const [rest, touched] = split(lines[index]!, '|');
    listing.set(path, { type: rest.startsWith('x') ? (TYPES[rest[1]!] ?? 'o') : rest[0]!, rest, touched });
  }
  return listing;
}

/** Files by which an engine marks its containers. */
const MARKS = ['/.dockerenv', '/run/.containerenv'];
/** Files that a container is given by its engine, each another one. */
const GIVEN = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/etc/mtab', ...MARKS];

/** What lives in memory is no part of a snapshot. */
const inMemory = (mountinfo: string): string[] =>
  mountinfo.split('\n').flatMap((line) => {
    const words = line.split(' ');
    const [at, kind] = [words[4], words[words.indexOf('-') + 1]];
    return at === undefined || at === '/' || kind !== 'tmpfs' ? [] : [at.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))];
  });

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
