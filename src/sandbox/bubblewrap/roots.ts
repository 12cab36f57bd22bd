/** The lowest layer of a sandbox's files: the default root, a folder of the host, or the files of a container image. Kept by digest. */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readFile, readdir, readlink, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { BuildFailed, SandboxError, Unsupported } from '../errors.js';
import type { BaseImage, BuildOptions } from '../provider.js';
import { removeTree } from './disk.js';
import { describeHostRoot, makeHostRoot } from './hostRoot.js';
import { exists } from './processes.js';

export interface Root {
  readonly digest: string;
  /** Name of its folder under `roots`; the files are in, or behind the link, `fs`. */
  readonly name: string;
  /** Folders of the host that are seen inside at the same place. */
  readonly trees: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
}

/** How the name of a root begins that came with a snapshot: whoever made that may say of it what he likes, so no build starts from it. */
export const IMPORTED = 'import-';

const nameOf = (digest: string): string => digest.replace(/^sha256:/, '').slice(0, 16);

export class Roots {
  constructor(
    readonly folder: string,
    private readonly chmod: string,
    /** Whether setup may run a package manager. */
    private readonly packages: boolean,
  ) {}

  async digest(base: BaseImage, options: BuildOptions = {}): Promise<string> {
    const { image } = checked(base);
    if (image === undefined) return (await describeHostRoot(this.packages)).digest;
    if (isAbsolute(image)) return folderDigest(image, options.signal);
    return imageDigest(image, options);
  }

  /** The root ready to be mounted. */
  async prepare(base: BaseImage, options: BuildOptions = {}): Promise<Root> {
    const { image } = checked(base);
    if (image === undefined) {
      const host = await describeHostRoot(this.packages);
      return this.keep(host.digest, (folder) => makeHostRoot(join(folder, 'fs'), host, this.packages).then(() => ({ trees: host.trees, env: {} })));
    }
    const digest = await this.digest(base, options);
    if (isAbsolute(image)) {
      return this.keep(digest, async (folder) => {
        await symlink(image, join(folder, 'fs'));
        return { trees: [], env: {} };
      });
    }
    return this.keep(digest, async (folder) => {
      const { exportRootfs } = await import('../docker/export.js');
      const { env, workdir } = await exportRootfs(digest, join(folder, 'fs'), options);
      return { trees: [], env, workdir };
    });
  }

  /** Whether its files lie here, and not in a folder of the host. */
  holds({ name, trees }: Root): Promise<boolean> {
    return lstat(join(this.folder, name, 'fs')).then((info) => info.isDirectory() && trees.length === 0, () => false);
  }

  /** A root for a snapshot from elsewhere: the same one that is here, else the files that `brought` gives the folder of, if it has any. */
  async like(theirs: Root, brought: () => Promise<string | undefined>): Promise<Root> {
    if (theirs.trees.length > 0) {
      const root = await this.prepare({});
      if (root.digest === theirs.digest) return root;
      throw new SandboxError('the snapshot was made over the system of another machine, or of this one before an update; build its template again here');
    }
    const here = await readJson(join(this.folder, nameOf(theirs.digest), 'root.json'));
    if (here?.digest === theirs.digest) return here;
    const files = await brought();
    if (files === undefined) throw new SandboxError('the snapshot was made over a root folder that this machine does not have');
    const { digest, env, workdir } = theirs;
    const root: Root = { digest, name: `${IMPORTED}${randomUUID().slice(0, 8)}`, trees: [], env, workdir };
    await mkdir(join(this.folder, root.name), { recursive: true });
    await rename(files, join(this.folder, root.name, 'fs'));
    await writeFile(join(this.folder, root.name, 'root.json'), JSON.stringify(root));
    return root;
  }

  async remove(name: string): Promise<void> {
    await removeTree(join(this.folder, name), this.chmod);
  }

  /** What a process that died had half made. */
  private async removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const pid = /\.(\d+)-[0-9a-f]+\.partial$/.exec(name)?.[1];
      if (pid !== undefined && !exists(Number(pid))) await removeTree(join(this.folder, name), this.chmod);
    }
  }

  /** Takes the root from the store or has it made there; what is half made never carries the name. */
  private async keep(digest: string, make: (folder: string) => Promise<Omit<Root, 'digest' | 'name'>>): Promise<Root> {
    const name = nameOf(digest);
    const folder = join(this.folder, name);
    const known = await readJson(join(folder, 'root.json'));
    if (known !== undefined) return known;
    // Two calls at once each make their own; the first to be whole gets the name.
    const partial = `${folder}.${process.pid}-${randomUUID().slice(0, 8)}.partial`;
    await this.removeAbandoned();
    await mkdir(partial, { recursive: true });
    try {
      const root: Root = { digest, name, ...(await make(partial)) };
      await writeFile(join(partial, 'root.json'), JSON.stringify(root));
      await rename(partial, folder).catch((error: NodeJS.ErrnoException) => {
        // Another process has made the same meanwhile.
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
      return root;
    } finally {
      await removeTree(partial, this.chmod);
    }
  }
}

const readJson = (file: string): Promise<Root | undefined> =>
  readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Root,
    () => undefined,
  );

function checked(base: BaseImage): BaseImage {
  if (base.dockerfile) throw new Unsupported('bubblewrap cannot build a Dockerfile; the docker provider can, or name an image that is already built');
  const image = base.image?.replace(/^docker:(\/\/)?/, '');
  return { image };
}

async function imageDigest(image: string, options: BuildOptions): Promise<string> {
  const [{ Engine }, { resolveImage }] = await Promise.all([import('../docker/engine.js'), import('../docker/images.js')]);
  const engine = new Engine();
  try {
    return await resolveImage(engine, { image }, options);
  } finally {
    await engine.close();
  }
}

/** Digest of a folder by each file's path, kind, mode, size, time and link target, as `rsync` compares: reading all of a system would take minutes. */
async function folderDigest(folder: string, signal?: AbortSignal): Promise<string> {
  if (!(await stat(folder).then((info) => info.isDirectory(), () => false))) throw new BuildFailed(`there is no folder ${folder} to take as root`);
  const hash = createHash('sha256').update(`${folder}\n`);
  const walk = async (path: string): Promise<void> => {
    signal?.throwIfAborted();
    for (const entry of (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(path, entry.name);
      const info = await lstat(file);
      hash.update(`${file.slice(folder.length)}\0${info.mode}\0${info.isFile() ? `${info.size} ${info.mtimeMs}` : ''}\0${info.isSymbolicLink() ? await readlink(file) : ''}\n`);
      if (info.isDirectory()) await walk(file);
    }
  };
  await walk(folder);
  return `sha256:${hash.digest('hex')}`;
}
