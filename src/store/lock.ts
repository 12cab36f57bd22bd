/**
 * One process for each folder: the runner of its place, the one that resumes a run. The lock is a file `lock.<n>` that holds its owner; the highest number counts. Whoever finds the highest one's
 * owner dead makes the next number, which only one can. The highest is never removed, not even by a process that ends: so whoever was slow
 * and made a number that is no longer the highest sees that, and no clock and no order of removal matters.
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentOwner, isOwnerAlive } from '../sandbox/owner.js';

interface Held {
  readonly number: number;
  /** As in the labels of sandboxes. */
  readonly owner: string;
}

/** True if this process holds the lock from now on, until it ends or lets go of it; false if a living process does, be it this one. */
export async function acquireLock(folder: string): Promise<boolean> {
  const owner = await currentOwner();
  for (;;) {
    const held = await highest(folder);
    if (held && (await isOwnerAlive(held.owner))) return false;
    const number = (held?.number ?? 0) + 1;
    if (!(await make(folder, number, owner))) continue;
    if ((await numbers(folder)).at(-1) === number) {
      await tidy(folder, number);
      return true;
    }
    await rm(lockFile(folder, number), { force: true });
  }
}

/** Lets go of a lock that this process holds: the next number is one that nobody owns. */
export async function releaseLock(folder: string): Promise<void> {
  const held = await highest(folder);
  if (held?.owner !== (await currentOwner()) || !(await make(folder, held.number + 1, NOBODY))) return;
  await tidy(folder, held.number + 1);
}

/** The process that holds the lock, if it lives. */
export async function lockHolder(folder: string): Promise<number | undefined> {
  const held = await highest(folder);
  return held && (await isOwnerAlive(held.owner)) ? Number(held.owner.split(':')[0]) : undefined;
}

/** A malformed owner is a dead one. */
const NOBODY = '-';

const lockFile = (folder: string, number: number): string => join(folder, `lock.${number}`);

async function numbers(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : [])).sort((a, b) => a - b);
}

async function highest(folder: string): Promise<Held | undefined> {
  for (;;) {
    const number = (await numbers(folder)).at(-1);
    if (number === undefined) return undefined;
    const owner = await readFile(lockFile(folder, number), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    // Gone since it was listed: there is a higher one.
    if (owner !== undefined) return { number, owner };
  }
}

/** Makes a lock file that is complete from its first instant. False if the number is taken. */
async function make(folder: string, number: number, owner: string): Promise<boolean> {
  const draft = join(folder, `draft.${process.pid}.${randomBytes(4).toString('hex')}`);
  await writeFile(draft, owner, { mode: 0o600 });
  try {
    await link(draft, lockFile(folder, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes what earlier ones left. A draft that is taken from a process still at it only costs that one its try: this one holds the lock. */
async function tidy(folder: string, number: number): Promise<void> {
  const names = await readdir(folder);
  const stale = names.filter((name) => name.startsWith('draft.') || (/^lock\.\d+$/.test(name) && Number(name.slice(5)) < number));
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}
