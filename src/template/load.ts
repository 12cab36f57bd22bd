/** Template files on disk: what `parse.ts` cannot see, because it takes a look at the file system. */
import { constants, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Position } from './document.js';
import { MAX_TEMPLATE_BYTES, parseTemplate, refusedTemplate, tooLarge, type ParsedTemplate } from './parse.js';
import type { HostReference } from './references.js';
import { TemplateError, type Problem, type Template } from './template.js';
import { quoteName, quotePath } from './text.js';

/** @throws TemplateError with every problem of the file. */
export async function loadTemplate(file: string): Promise<Template> {
  const { template, problems } = await readTemplate(file);
  if (!template) throw new TemplateError(problems);
  return template;
}

/** Reads and parses, and looks whether what the template names is there. Faults of the file are problems, never exceptions. */
export async function readTemplate(file: string): Promise<ParsedTemplate> {
  const absolute = path.resolve(file);
  const read = await readText(absolute);
  if ('refused' in read) return refusedTemplate(absolute, read.refused);
  const parsed = parseTemplate(read.text, absolute);
  const directory = await realpath(path.dirname(absolute)).catch(() => path.dirname(absolute));
  const missing = await Promise.all(
    parsed.references.map(async (reference): Promise<Problem[]> => {
      const message = await wrongWith(reference, directory);
      return message ? [{ file: absolute, ...parsed.locate(reference.path), severity: 'error', message, path: reference.path }] : [];
    }),
  );
  const found = missing.flat();
  if (found.length === 0) return { ...parsed, template: parsed.template && (await withRealPaths(parsed.template)) };
  const problems = [...parsed.problems, ...found].sort((a, b) => a.line - b.line || a.column - b.column);
  return { ...parsed, template: undefined, problems };
}

/** A link that was named is followed here, once: links are otherwise copied as links. */
async function withRealPaths(template: Template): Promise<Template> {
  const files = template.files.map(async ({ from, to }) => ({ from: await realpath(from).catch(() => from), to }));
  return { ...template, files: await Promise.all(files) };
}

async function readText(file: string): Promise<{ text: string } | { refused: string }> {
  try {
    // Without O_NONBLOCK a named pipe would wait for a writer for ever.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const info = await handle.stat();
      if (info.isDirectory()) return { refused: 'expected a template file, found a folder' };
      if (!info.isFile()) return { refused: 'expected a template file, found a device, pipe or socket' };
      if (info.size > MAX_TEMPLATE_BYTES) return { refused: tooLarge(info.size) };
      // One byte more than is allowed, in case the file grows while it is read.
      const bytes = Buffer.concat((await handle.createReadStream({ end: MAX_TEMPLATE_BYTES, autoClose: false }).toArray()) as Uint8Array[]);
      return bytes.length > MAX_TEMPLATE_BYTES ? { refused: tooLarge(bytes.length) } : decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { refused: reason(error, 'the template file') };
  }
}

function decode(bytes: Uint8Array): { text: string } | { refused: string } {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (utf16) return { refused: 'expected UTF-8 text, found UTF-16: save the file as UTF-8' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { refused: 'expected UTF-8 text, found bytes that are not UTF-8' };
  }
}

/** What is wrong with what a template names, in one sentence; undefined if nothing is. */
async function wrongWith({ kind, written, target, inside }: HostReference, directory: string): Promise<string | undefined> {
  const name = quotePath(written);
  try {
    const real = await realpath(target);
    const fromDirectory = path.relative(directory, real);
    if (inside && (fromDirectory.split(path.sep)[0] === '..' || path.isAbsolute(fromDirectory))) return `${name} is a link that leads out of the template's folder`;
    const info = await stat(real);
    const found = info.isFile() ? 'file' : info.isDirectory() ? 'folder' : 'device, pipe or socket';
    if (found === kind || (kind === 'any' && (info.isFile() || info.isDirectory()))) return undefined;
    return `expected a ${kind === 'any' ? 'file or folder' : kind}, but ${name} is a ${found}`;
  } catch (error) {
    return reason(error, name);
  }
}

function reason(error: unknown, what: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${what} does not exist`;
  if (code === 'EACCES' || code === 'EPERM') return `${what} may not be read by this user`;
  if (code === 'ELOOP') return `${what} is a link that leads to itself`;
  return `${what} cannot be read: ${message}`;
}

/** A template with the place of its name. */
export interface NamedTemplate {
  readonly file: string;
  readonly name: string;
  /** The first character of the file if absent. */
  readonly position?: Position;
}

/** Templates that share a name: runs and snapshots are found by it. One problem for each template that does. */
export function findDuplicateNames(templates: readonly NamedTemplate[]): Problem[] {
  const byName = new Map<string, NamedTemplate[]>();
  for (const template of templates) byName.set(template.name, [...(byName.get(template.name) ?? []), template]);
  return [...byName.values()].flatMap((same) => {
    return same.length < 2 ? [] : same.map((one): Problem => {
      const other = same.find((candidate) => candidate !== one)!;
      const message = `the name ${quoteName(one.name)} is also that of ${quotePath(other.file)}: expected one that no other template has`;
      return { file: one.file, ...(one.position ?? { line: 1, column: 1, endLine: 1, endColumn: 1 }), severity: 'error', message, path: 'name' };
    });
  });
}
