/** Files of a simulated sandbox, as the gateway gives them: bytes in base64, in one piece, sizes and times as texts. */
import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { NoSuchFile } from '../../../src/sandbox/errors.js';
import type { FileInfo, Sandbox } from '../../../src/sandbox/provider.js';
import type { Faults } from '../faults.js';
import type { Fault } from './faults.js';
import { textOf, type Body } from './gateway.js';

const info = (name: string, { type, size, mode, modified }: FileInfo): unknown => ({
  name,
  isDir: type === 'directory',
  size: String(size),
  mode,
  modTime: String(Math.trunc(modified / 1000)),
  permissions: mode & 0o777,
  owner: 'root',
  group: 'root',
});

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A call by its method and path. `failed` makes a failure in the service's words, `unknown` one of a call that there is not. */
export async function files(sandbox: Sandbox, call: string, query: URLSearchParams, body: Body, faults: Faults<Fault>, failed: (message: string) => Error, unknown: () => Error): Promise<unknown> {
  const { files: all } = sandbox;
  const [, method, kind, named] = /^(\w+) (files|directories)(?:\/(.+))?$/.exec(call) ?? [];
  const path = posix.resolve('/root', query.get('containerPath') ?? textOf(body.containerPath) ?? decodeURIComponent(named?.replace(/^download\//, '') ?? ''));
  const ok = { ok: true, errorMsg: '' };
  try {
    if (call === 'POST files/upload') {
      // The folder must be there: nothing makes it.
      await all.stat(posix.dirname(path));
      await all.write(path, Buffer.from(textOf(body.data) ?? '', 'base64'), { mode: Number(body.mode ?? 0o644) });
      return ok;
    }
    if (call === 'GET files/stat') return { ...ok, fileInfo: info(posix.basename(path), await all.stat(path)) };
    if (call === 'GET files') return { ...ok, files: (await all.list(path)).map((each) => info(each.name, each)) };
    if (call === 'POST files/find') return { ...ok, results: await find(sandbox, path, String(body.pattern)) };
    if (call === 'POST files/replace') {
      for (const each of await textsBelow(sandbox, path)) if (each.text.includes(String(body.pattern))) await all.write(each.path, each.text.replaceAll(String(body.pattern), String(body.newString)));
      return ok;
    }
    if (method === 'GET' && named?.startsWith('download/')) {
      const data = await buffer(await all.read(path));
      return { ...ok, data: (faults.strikes('truncate') ? data.subarray(0, data.length / 2) : data).toString('base64') };
    }
    if (method === 'POST' && kind === 'directories') return (await all.mkdir(path), ok);
    if (method === 'DELETE') {
      await all.stat(path);
      await all.remove(path);
      return ok;
    }
  } catch (error) {
    throw failed(error instanceof NoSuchFile ? `Failed to open '${path}': no such file or directory` : (error as Error).message);
  }
  throw unknown();
}

async function textsBelow({ files: all }: Sandbox, folder: string): Promise<{ path: string; text: string }[]> {
  const names = (await all.list(folder)).filter(({ type }) => type === 'file').map(({ name }) => posix.join(folder, name));
  return Promise.all(names.map(async (path) => ({ path, text: (await buffer(await all.read(path))).toString() })));
}

async function find(sandbox: Sandbox, folder: string, pattern: string): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { path, text } of await textsBelow(sandbox, folder)) {
    const matches = text.split('\n').flatMap((line, index) =>
      [...line.matchAll(new RegExp(escaped(pattern), 'g'))].map((each) => ({ content: each[0], range: { start: { line: index + 1, column: each.index + 1 }, end: { line: index + 1, column: each.index + 1 + pattern.length } } })),
    );
    if (matches.length > 0) results.push({ path, matches });
  }
  return results;
}
