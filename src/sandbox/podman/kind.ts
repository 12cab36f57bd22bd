/** Podman, as another engine that speaks Docker's API. */
import type Docker from 'dockerode';
import { readFile } from 'node:fs/promises';
import { type EngineKind } from '../docker/kind.js';
import { existing, parseHost, type Endpoint, type Surroundings } from '../docker/endpoint.js';
import { Unsupported } from '../errors.js';
import { podmanCapabilities } from './capabilities.js';

export const PODMAN: EngineKind = {
  id: 'podman',
  title: 'Podman',
  capabilities: podmanCapabilities,
  noun: 'Podman service',
  programs: process.platform === 'win32' ? ['podman.exe'] : ['podman'],
  advice: {
    install: process.platform === 'linux' ? 'install it (Debian, Ubuntu: `sudo apt-get install podman`), or see https://podman.io/docs/installation' : 'install Podman Desktop, see https://podman-desktop.io',
    start: process.platform === 'linux' ? 'start it with `systemctl --user start podman.socket` (as root: `systemctl start podman.socket`)' : 'start it with `podman machine start`',
    permission: "start a service of your own with `systemctl --user start podman.socket`, or name another in CONTAINER_HOST",
    choose: 'set CONTAINER_HOST to the address of a Podman service, such as `unix:///run/podman/podman.sock`',
  },
  findEndpoints,
  chosen: /^CONTAINER_HOST/,
  looseArchives: true,
  adapt,
};

/** As Podman's own command line finds its service: CONTAINER_HOST, else the user's socket, else root's. */
function findEndpoints({ env, home, platform }: Surroundings): Promise<Endpoint[]> {
  if (env.CONTAINER_HOST) return Promise.resolve([{ url: env.CONTAINER_HOST, why: 'CONTAINER_HOST', transport: parseHost(env.CONTAINER_HOST, 'CONTAINER_HOST') }]);
  if (platform === 'win32') return existing([['npipe:////./pipe/podman-machine-default', 'pipe of the Podman machine']], platform);
  return existing(
    [
      ...(env.XDG_RUNTIME_DIR ? [[`unix://${env.XDG_RUNTIME_DIR}/podman/podman.sock`, 'socket of this user'] as const] : []),
      ...(platform === 'darwin' ? [[`unix://${home}/.local/share/containers/podman/machine/podman.sock`, 'socket of the Podman machine'] as const] : []),
      ['unix:///run/podman/podman.sock', "root's socket"],
    ],
    platform,
  );
}

async function adapt(options: Docker.ContainerCreateOptions, { transport }: Endpoint): Promise<Docker.ContainerCreateOptions> {
  // The service drops the request without a word.
  if (options.HostConfig?.DeviceRequests) throw new Unsupported('Podman does not give GPUs to containers through this API; use Docker, or remove `gpu`');
  const limits = transport.kind === 'socket' ? await ownLimits() : [];
  const Ulimits = [...limits, ...(options.HostConfig?.Ulimits ?? [])];
  return { ...options, HostConfig: { ...options.HostConfig, ...(Ulimits.length > 0 && { Ulimits }) } };
}

/**
 * Open files and processes as this process may have them at most. Podman asks for as many as the kernel can have, and where root is not allowed to raise
 * its limits no container starts.
 */
export async function ownLimits(): Promise<Docker.Ulimit[]> {
  const [limits = '', most] = await Promise.all(['/proc/self/limits', '/proc/sys/kernel/pid_max'].map((file) => readFile(file, 'latin1').catch(() => undefined)));
  const hard = (title: string): number => Number(new RegExp(`^${title}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? NaN);
  const known = [['nofile', hard('Max open files')], ['nproc', Math.min(hard('Max processes'), Number(most ?? NaN))]] as const;
  return known.filter(([, value]) => Number.isFinite(value)).map(([Name, value]) => ({ Name, Soft: value, Hard: value }));
}
