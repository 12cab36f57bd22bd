/** What is sent to the engine to build an image from: the context folder without what `.dockerignore` leaves out. */
import ignore from '@balena/dockerignore';
import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { packDirectory, type PackEntry } from '../archive.js';
import { BuildFailed } from '../errors.js';

/** Name under which a Dockerfile is sent that lies outside its context. */
const OUTSIDE = '.rl-sandboxes.Dockerfile';

export interface BuildContext {
  readonly tar: Readable;
  /** Path of the Dockerfile in the archive. */
  readonly dockerfile: string;
}

/** @throws BuildFailed if the Dockerfile or the folder is not there. */
export async function buildContext({ file, context }: { readonly file: string; readonly context: string }): Promise<BuildContext> {
  if (!(await stat(file).then((info) => info.isFile(), () => false))) throw new BuildFailed(`there is no Dockerfile ${file}`);
  if (!(await stat(context).then((info) => info.isDirectory(), () => false))) throw new BuildFailed(`there is no folder ${context} to build from`);
  const inside = relative(context, file);
  const outside = inside.startsWith('..') || isAbsolute(inside);
  const dockerfile = outside ? OUTSIDE : inside.split(sep).join('/');
  const patterns = (await text(`${file}.dockerignore`)) ?? (await text(join(context, '.dockerignore')));
  const extra: PackEntry[] = outside ? [{ name: OUTSIDE, source: file }] : [];
  if (patterns === undefined) return { dockerfile, tar: packDirectory(outside ? [...(await children(context, '')), ...extra] : context) };
  // The engine needs the Dockerfile even if it is ignored.
  const rules = ignore().add(patterns.split(/\r?\n/)).add(outside ? [] : [`!${dockerfile}`]);
  return { dockerfile, tar: packDirectory([...((await kept(context, '', rules)) ?? (await children(context, ''))), ...extra]) };
}

const text = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

async function children(root: string, folder: string): Promise<PackEntry[]> {
  const names = (await readdir(join(root, folder))).sort();
  return names.map((name) => ({ name: folder === '' ? name : `${folder}/${name}`, source: join(root, folder, name) }));
}

/** Entries of a folder that are not ignored; undefined if nothing below it is, so that it can be sent whole. */
async function kept(root: string, folder: string, rules: ReturnType<typeof ignore>): Promise<PackEntry[] | undefined> {
  const all = await readdir(join(root, folder), { withFileTypes: true });
  const entries: PackEntry[] = [];
  let whole = true;
  for (const entry of all.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const source = join(root, name);
    if (entry.isDirectory()) {
      // A folder that is ignored may hold something that a later `!` takes back.
      const below = await kept(root, name, rules);
      if (below === undefined && !rules.ignores(name)) entries.push({ name, source });
      else {
        whole = false;
        entries.push(...(below ?? []));
      }
    } else if (rules.ignores(name)) whole = false;
    else entries.push({ name, source });
  }
  return whole ? undefined : entries;
}
