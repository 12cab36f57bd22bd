/** Calls of Podman's own API, which its service has beside Docker's: https://docs.podman.io/en/latest/_static/api.html, "containers". */
import type Docker from 'dockerode';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { reasonOf } from '../docker/failures.js';
import { SandboxError, Unsupported } from '../errors.js';

const CONTAINERS = '/v4.0.0/libpod/containers';

interface Modem {
  dial(request: object, done: (error: Error | null, answer: unknown) => void): void;
}

const ask = (docker: Docker, request: object): Promise<unknown> =>
  new Promise((resolve, reject) => (docker.modem as Modem).dial({ method: 'POST', statusCodes: { 200: true }, ...request }, (error, answer) => (error ? reject(error) : resolve(answer))));

/** Copies a container, which goes on, and gives the archive. */
export function checkpoint(docker: Docker, container: string, signal: AbortSignal): Promise<Readable> {
  const options = { _query: { export: true, leaveRunning: true, tcpEstablished: true, fileLocks: true }, _body: {} };
  return ask(docker, { path: `${CONTAINERS}/${container}/checkpoint?`, options, isStream: true, abortSignal: signal }).catch((error: unknown) => explained(error, 'dump.log')) as Promise<Readable>;
}

/** Makes a container of an archive and lets its processes go on. Not to be cut: what was heard is done. */
export async function restore(docker: Docker, name: string, archive: Readable): Promise<void> {
  const options = { import: true, name, tcpEstablished: true, fileLocks: true };
  try {
    await ask(docker, { path: `${CONTAINERS}/${name}/restore?`, options, file: archive, headers: { 'Content-Type': 'application/x-tar' } });
  } catch (error) {
    await explained(error, 'restore.log');
  } finally {
    archive.destroy();
  }
}

/** Throws what CRIU says, where its log can be read: Podman's own words are the command that failed. */
async function explained(error: unknown, log: string): Promise<never> {
  const folder = error instanceof Error ? /--work-path (\S+)/.exec(reasonOf(error))?.[1] : undefined;
  if (folder === undefined) throw error;
  const text = await readFile(join(folder, log), 'latin1').catch(() => '');
  const said = text.split('\n').flatMap((line) => /Error \([^)]*\): (.*)/.exec(line)?.[1] ?? []);
  // The kernel tells them of another user's process to nobody without that capability, which some containers and virtual machines take from root.
  if (said.some((line) => line.includes("Can't get rlimit"))) throw new Unsupported('root has no CAP_SYS_RESOURCE on this machine, without which CRIU cannot copy the processes of another user; leave `user` out, or take a snapshot of the files', { cause: error });
  // It may not raise its own limits, and goes on; the last of them only say that it has failed.
  const why = said.find((line) => !/^rlimit: Can't setup|FAILED|failed with -?\d+$/.test(line)) ?? `${join(folder, log)} on the machine of Podman may say why`;
  throw new SandboxError(`CRIU cannot copy what runs in the sandbox: ${why.replaceAll(/[^ -~]+/g, '?').slice(0, 300)}`, { cause: error });
}

/** Whether the service runs as an ordinary user, and on which machine it does. */
export async function rootless(docker: Docker): Promise<boolean> {
  const info = (await ask(docker, { method: 'GET', path: '/v4.0.0/libpod/info' })) as { host?: { security?: { rootless?: boolean } } };
  return info.host?.security?.rootless ?? false;
}
