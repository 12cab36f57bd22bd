/** The files of an image as a folder of the host, for providers that need no engine to run them. */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startProgram } from '../command.js';
import { SandboxError } from '../errors.js';
import type { BuildOptions } from '../provider.js';
import { Engine } from './engine.js';
import { resolveImage } from './images.js';
import { newId, removeContainer } from './container.js';

export interface ExportedImage {
  /** The image's id, `sha256:...`. */
  readonly digest: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
}

const EXPORT_TIMEOUT_MS = 1_800_000;

/**
 * Unpacks an image into a folder, which is created; it is pulled if the engine does not have it. Root keeps the owners of the files, as numbers;
 * anyone else owns them all. Device nodes are left out.
 *
 * @throws ProviderUnavailable if no engine answers, BuildFailed if there is no such image, SandboxError if it cannot be unpacked.
 */
export async function exportRootfs(image: string, directory: string, options?: BuildOptions): Promise<ExportedImage> {
  const engine = new Engine();
  // Never started: it only makes the image's layers one tree.
  const name = `rl-export-${newId()}`;
  try {
    const digest = await resolveImage(engine, { image }, options);
    await mkdir(directory, { recursive: true });
    return await engine.call(`Unpacking the image ${image}`, options, EXPORT_TIMEOUT_MS, async (docker, signal) => {
      const { Config } = await docker.getImage(digest).inspect();
      const container = await docker.createContainer({ name, Image: digest, Entrypoint: ['/'], Cmd: [], NetworkDisabled: true, Labels: { 'rl-sandboxes.export': '1' } });
      await unpack((await container.export({ abortSignal: signal })) as Readable, directory, signal);
      const env = Object.fromEntries((Config.Env ?? []).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
      return { digest, env, workdir: Config.WorkingDir || undefined };
    });
  } finally {
    await removeContainer(engine, name).catch(() => undefined);
    await engine.close();
  }
}

async function unpack(tar: Readable, directory: string, signal: AbortSignal): Promise<void> {
  const owners = process.getuid?.() === 0 ? ['--numeric-owner', '--same-owner', '--same-permissions'] : ['--no-same-owner'];
  const child = startProgram('tar', ['-x', '-f', '-', '-C', directory, '--exclude=dev/*', '--exclude=.dockerenv', ...owners], { stdio: ['pipe', 'ignore', 'pipe'], signal, killSignal: 'SIGKILL' });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-1000)));
  const ended = once(child, 'close') as Promise<[number | null]>;
  ended.catch(() => undefined);
  const sent = await pipeline(tar, child.stdin, { signal }).then(() => undefined, (error: unknown) => error);
  const [code] = await ended;
  signal.throwIfAborted();
  if (code !== 0) throw new SandboxError(`unpacking the image failed: ${complaint.trim() || `tar ended with exit code ${code}`}`);
  if (sent !== undefined) throw sent;
}
