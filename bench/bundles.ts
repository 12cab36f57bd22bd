/** What is loaded when: files of `dist`, their sizes, and the time that a provider's take on its first use. */
import { execFile } from 'node:child_process';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PROVIDERS } from '../src/sandbox/registry.js';
import { median, ms, type Figure } from './measure.js';

const ROUNDS = 5;
const WITHOUT_BEING_ASKED = /(?:from|^import|;import)"\.{1,2}\/(?:chunks\/)?([\w-]+\.mjs)"/g;
const ON_FIRST_USE = /import\("\.{1,2}\/(?:chunks\/)?([\w-]+\.mjs)"\)/g;

/** A file of `dist`, then those that come with it; `later`: those too that it asks for itself in time. Without those in `known`. */
export async function loadedWith(entry: string, later = false, known: ReadonlySet<string> = new Set()): Promise<string[]> {
  const chunks = new Set(await readdir('dist/chunks'));
  const found = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (known.has(file) || found.has(file)) return;
    found.add(file);
    const text = await readFile(join('dist', file), 'utf8');
    const names = [WITHOUT_BEING_ASKED, ...(later ? [ON_FIRST_USE] : [])].flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!));
    for (const name of names) if (chunks.has(name)) await visit(join('chunks', name));
  };
  await visit(entry);
  return [...found];
}

/** Bytes. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  return (await Promise.all(files.map((file) => stat(join('dist', file))))).reduce((sum, { size }) => sum + size, 0);
}

/** Of each provider: what it adds to what the command line loads at its start. */
export async function providerBundles(): Promise<Figure[]> {
  const [, ...shared] = await loadedWith('cli.mjs');
  const chunks = await readdir('dist/chunks');
  const figures: Figure[] = [];
  for (const { id } of PROVIDERS) {
    const entry = chunks.find((name) => name.startsWith(`${id}-`) && name.endsWith('.mjs'));
    if (entry === undefined) throw new Error(`there is no bundle of ${id}`);
    const own = await loadedWith(join('chunks', entry), true, new Set(shared));
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await loadTime(shared, own));
    figures.push({ what: `provider ${id}: bundle, and its load on first use`, ours: `${((await sizeOf(own)) / 1000).toFixed(0)} kB, ${ms(median(times))}`, floor: '', ratio: '', target: '', met: undefined });
  }
  return figures;
}

/** Milliseconds, in a process that has loaded `before`. */
async function loadTime(before: readonly string[], files: readonly string[]): Promise<number> {
  const load = (names: readonly string[]): string => names.map((name) => `await import(${JSON.stringify(resolve('dist', name))});`).join('\n');
  const script = `${load(before)}\nconst at = performance.now();\n${load(files)}\nconsole.log(performance.now() - at);\nprocess.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout);
}
