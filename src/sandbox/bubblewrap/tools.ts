/**
 * A few programs of the host in a folder of their own, which every sandbox sees read-only at `/.rl`: the first process of a sandbox and the
 * transfer of files use them, so they work whatever the image holds, and nothing inside can replace them. The loader may be run but not
 * read: the kernel then lets no process of the sandbox look into, or steer, one that was started through it (`would_dump` in fs/exec.c).
 */
import { createHash, randomUUID } from 'node:crypto';
import { copyFile, chmod, mkdir, realpath, rename, rm, stat, access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from '../command.js';
import { ProviderUnavailable } from '../errors.js';
import { which, type Host } from './host.js';

/** Where a sandbox sees the tools. */
export const TOOLS = '/.rl';

const NAMES = ['sh', 'cat', 'chmod', 'dd', 'find', 'mkdir', 'mv', 'rm', 'setpriv', 'setsid', 'tar'] as const;
export type Tool = (typeof NAMES)[number];

/** The first words of a command that runs a tool inside. */
export const tool = (name: Tool): string[] => [`${TOOLS}/ld.so`, '--library-path', TOOLS, `${TOOLS}/${name}`];

/** Makes the folder if these versions of the programs are not in it yet, and gives its path. */
export async function prepareTools(stateDir: string, host: Host, signal?: AbortSignal): Promise<string> {
  const sources = new Map<string, string>();
  let loader: string | undefined;
  for (const name of NAMES) {
    // dash starts and forks several times faster than bash.
    const path = (name === 'sh' ? await which('dash') : undefined) ?? (await which(name));
    if (path === undefined) throw new ProviderUnavailable(`${name} cannot be found`, 'install coreutils, findutils, tar and util-linux');
    sources.set(name, path);
    const { code, stdout, stderr } = await runCommand(host.ldd, [path], { signal });
    if (code !== 0) throw new ProviderUnavailable(`the libraries of ${path} cannot be found: ${stderr.trim()}`, 'a program of this machine is broken or statically linked');
    for (const line of stdout.split('\n')) {
      const library = /^\s*(\S+) => (\/\S+)/.exec(line);
      const bare = /^\s*(\/\S+) \(/.exec(line)?.[1];
      if (library) sources.set(basename(library[1]!), library[2]!);
      if (bare) loader = bare;
    }
  }
  if (loader === undefined) throw new ProviderUnavailable('the dynamic loader of this machine cannot be found', 'this kind of C library is not supported');
  sources.set('ld.so', loader);
  const identity = createHash('sha256');
  for (const [name, path] of [...sources].sort()) {
    const { size, mtimeMs } = await stat(await realpath(path));
    identity.update(`${name}\0${path}\0${size}\0${mtimeMs}\n`);
  }
  const folder = join(stateDir, 'tools', identity.digest('hex').slice(0, 16));
  if (await exists(folder)) return folder;
  const partial = `${folder}.${randomUUID()}.partial`;
  await mkdir(partial, { recursive: true });
  for (const [name, path] of sources) {
    await copyFile(path, join(partial, name));
    await chmod(join(partial, name), name === 'ld.so' ? 0o111 : 0o555);
  }
  await rename(partial, folder).catch(async (error: unknown) => {
    // Another process was faster with the same.
    await rm(partial, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  });
  return folder;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
