/** Calls of Podman's own API, which its service has beside Docker's: https://docs.podman.io/en/latest/_static/api.html, "containers". */
import type Docker from 'dockerode';
import type { Readable } from 'node:stream';

const CONTAINERS = '/v4.0.0/libpod/containers';

interface Modem {
  dial(request: object, done: (error: Error | null, answer: unknown) => void): void;
}

const ask = (docker: Docker, request: object): Promise<unknown> =>
  new Promise((resolve, reject) => (docker.modem as Modem).dial({ method: 'POST', statusCodes: { 200: true }, ...request }, (error, answer) => (error ? reject(error) : resolve(answer))));

/** Copies a container, which goes on, and gives the archive. */
export function checkpoint(docker: Docker, container: string, signal: AbortSignal): Promise<Readable> {
  const options = { _query: { export: true, leaveRunning: true, tcpEstablished: true, fileLocks: true }, _body: {} };
  return ask(docker, { path: `${CONTAINERS}/${container}/checkpoint?`, options, isStream: true, abortSignal: signal }) as Promise<Readable>;
}

/** Makes a container of an archive and lets its processes go on. Not to be cut: what was heard is done. */
export async function restore(docker: Docker, name: string, archive: Readable): Promise<void> {
  const options = { import: true, name, tcpEstablished: true, fileLocks: true };
  try {
    await ask(docker, { path: `${CONTAINERS}/${name}/restore?`, options, file: archive, headers: { 'Content-Type': 'application/x-tar' } });
  } finally {
    archive.destroy();
  }
}

/** Whether the service runs as an ordinary user, and on which machine it does. */
export async function rootless(docker: Docker): Promise<boolean> {
  const info = (await ask(docker, { method: 'GET', path: '/v4.0.0/libpod/info' })) as { host?: { security?: { rootless?: boolean } } };
  return info.host?.security?.rootless ?? false;
}
