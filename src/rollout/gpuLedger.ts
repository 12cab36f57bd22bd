/**
 * What the processes of one user agree on about the GPUs of their machine: which of them each uses, and who waits for which. It is a file `gpus.<n>`, of which the highest
 * number counts. Whoever changes it makes the next number, which only one can, and begins anew where another was first; the highest is never removed. So there is no lock that
 * a process could die with, and no clock. What a dead process has in it counts no more.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../sandbox/errors.js';
import { currentOwner, isOwnerAlive } from '../sandbox/owner.js';

export interface Waiting {
  /** Lower ones came first, in whichever process. */
  readonly ticket: number;
  /** Devices that would serve it. */
  readonly ids: readonly string[];
}

/** Of one process. */
export interface Claims {
  /** By device: for how many at once each of its users has asked. */
  readonly uses: Readonly<Record<string, readonly number[]>>;
  readonly waiting: readonly Waiting[];
}

type Book = Readonly<Record<string, Claims>>;

const NAME = /^gpus\.(\d+)$/;
/** Whose it is comes first. */
const DRAFT = /^draft\.(.+)\.[0-9a-f]{8}$/;

export class GpuLedger {
  /** `folder` gives a folder that only this user may enter; it may not be there before somebody asks. */
  constructor(private readonly folder: () => Promise<string>) {}

  /**
   * Puts what this process claims in the place of what it claimed before. `claim` is told what the other living processes claim, and is asked again if one of them was first; what it
   * has returned with the claims that count is the result. Rejects with `SandboxError` if the folder cannot be used.
   */
  async update<T>(claim: (others: readonly Claims[]) => { readonly mine: Claims; readonly result: T }): Promise<T> {
    try {
      const folder = await this.folder();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const owner = await currentOwner();
      await removeDrafts(folder);
      for (;;) {
        const { number, book } = await read(folder);
        const others = await living(book, owner);
        const { mine, result } = claim(Object.values(others));
        const empty = Object.keys(mine.uses).length === 0 && mine.waiting.length === 0;
        const next = JSON.stringify(empty ? others : { ...others, [owner]: mine });
        if (next === JSON.stringify(book) || (await write(folder, number + 1, next, owner))) return result;
      }
    } catch (error) {
      throw new SandboxError(`the GPUs of this machine cannot be shared out among the processes of this user: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function living(book: Book, owner: string): Promise<Book> {
  const alive = await Promise.all(Object.entries(book).map(async (entry) => (entry[0] !== owner && (await isOwnerAlive(entry[0])) ? [entry] : [])));
  return Object.fromEntries(alive.flat());
}

const numbers = async (folder: string): Promise<number[]> => (await readdir(folder)).flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number).sort((a, b) => a - b);

async function read(folder: string): Promise<{ readonly number: number; readonly book: Book }> {
  for (;;) {
    const number = (await numbers(folder)).at(-1);
    if (number === undefined) return { number: 0, book: {} };
    const text = await readFile(join(folder, `gpus.${number}`), 'utf8').catch((error: NodeJS.ErrnoException) => {
      // Gone since it was listed: there is a higher one.
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text !== undefined) return { number, book: JSON.parse(text) as Book };
  }
}

/** Those of processes that died between two steps. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const owner = DRAFT.exec(name)?.[1];
    if (owner !== undefined && !(await isOwnerAlive(owner.replaceAll('_', ':')))) await rm(join(folder, name), { force: true });
  }
}

/** Makes a number that is complete from its first instant, and removes those below. False if another process was first. */
async function write(folder: string, number: number, text: string, owner: string): Promise<boolean> {
  const file = (at: number): string => join(folder, `gpus.${at}`);
  const draft = join(folder, `draft.${owner.replaceAll(':', '_')}.${randomBytes(4).toString('hex')}`);
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, file(number));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const all = await numbers(folder);
  // Whoever was so slow that the number has been made and removed meanwhile.
  const counts = all.at(-1) === number;
  await Promise.all((counts ? all.filter((each) => each < number) : [number]).map((each) => rm(file(each), { force: true })));
  return counts;
}
