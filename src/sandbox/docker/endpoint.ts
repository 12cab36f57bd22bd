/** Which engine to talk to, found the way Docker's own command line finds it. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { configFolder, contextEndpoint, currentContext, tlsFiles, WrongContext, type TlsFiles } from './contexts.js';

export interface Endpoint {
  /** As Docker writes it: `unix:///var/run/docker.sock`. */
  readonly url: string;
  /** How it was chosen, for a person: `DOCKER_HOST`, `context "remote"`, `default socket`. */
  readonly why: string;
  readonly transport: Transport;
}

export type Transport =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: TlsFiles }
  | { readonly kind: 'ssh'; readonly host: string; readonly port?: string; readonly user?: string; readonly remoteSocket?: string };

/** What the search looks at; a test gives its own. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export const surroundings = (env = process.env): Surroundings => ({ env, home: env.HOME || homedir(), platform: process.platform });

const WINDOWS_PIPE = 'npipe:////./pipe/docker_engine';

/**
 * Candidates, best first. DOCKER_HOST, or a context that is named by DOCKER_CONTEXT or `currentContext`, is the only one; without them it is the
 * default socket, then those of rootless Docker, Docker Desktop and Podman that are there.
 * @throws WrongContext if a context is named that does not exist, or an address means nothing.
 */
export async function findEndpoints(around: Surroundings = surroundings()): Promise<Endpoint[]> {
  const { env } = around;
  const folder = configFolder(env, around.home);
  if (env.DOCKER_HOST) return [{ url: env.DOCKER_HOST, why: 'DOCKER_HOST', transport: parseHost(env.DOCKER_HOST, 'DOCKER_HOST', await environmentTls(env, folder)) }];
  const [name, source] = env.DOCKER_CONTEXT ? [env.DOCKER_CONTEXT, 'DOCKER_CONTEXT'] : [await currentContext(folder), `currentContext of ${join(folder, 'config.json')}`];
  if (name !== undefined && name !== 'default') {
    const { host, tls } = await contextEndpoint(folder, name).catch((error: Error) => {
      throw error instanceof WrongContext ? new WrongContext(`${error.message} (chosen by ${source})`) : error;
    });
    if (host !== '') return [{ url: host, why: `context "${name}"`, transport: parseHost(host, `context "${name}"`, tls) }];
  }
  return defaults(around);
}

function defaults({ env, home, platform }: Surroundings): Promise<Endpoint[]> {
  const known: [url: string, why: string][] =
    platform === 'win32'
      ? [[WINDOWS_PIPE, 'default pipe']]
      : [
          ['unix:///var/run/docker.sock', 'default socket'],
          ...(env.XDG_RUNTIME_DIR ? [[`unix://${env.XDG_RUNTIME_DIR}/docker.sock`, 'rootless socket'] as [string, string]] : []),
          [`unix://${home}/.docker/run/docker.sock`, 'Docker Desktop socket'],
          [`unix://${home}/.docker/desktop/docker.sock`, 'Docker Desktop socket'],
          ...(env.XDG_RUNTIME_DIR ? [[`unix://${env.XDG_RUNTIME_DIR}/podman/podman.sock`, 'Podman socket'] as [string, string]] : []),
          ['unix:///run/podman/podman.sock', 'Podman socket'],
        ];
  return existing(known, platform);
}

/** Those of the addresses that are there; the first, if none is: it says best what is missing. */
export async function existing(known: readonly (readonly [url: string, why: string])[], platform: NodeJS.Platform): Promise<Endpoint[]> {
  const endpoints = known.map(([url, why]) => ({ url, why, transport: parseHost(url, why) }));
  const there = await Promise.all(endpoints.map(async ({ transport }) => transport.kind !== 'socket' || platform === 'win32' || (await exists(transport.path))));
  const found = endpoints.filter((_, index) => there[index]);
  return found.length ? found : endpoints.slice(0, 1);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // A folder that may not be looked into may well hold it.
    (error: NodeJS.ErrnoException) => error.code === 'EACCES',
  );

/** As in Docker's CLI: either variable switches TLS on, only the second one has the server's certificate checked. */
async function environmentTls(env: NodeJS.ProcessEnv, folder: string): Promise<TlsFiles | undefined> {
  if (!env.DOCKER_TLS && !env.DOCKER_TLS_VERIFY) return undefined;
  return { ...(await tlsFiles(env.DOCKER_CERT_PATH || folder)), skipVerify: !env.DOCKER_TLS_VERIFY };
}

/** @throws WrongContext if the address means nothing. */
export function parseHost(text: string, source: string, tls?: TlsFiles): Transport {
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/s.exec(text)!;
  const wrong = (): never => {
    throw new WrongContext(`${source} holds "${text}", which is no address of a Docker engine; expected unix://, tcp://, ssh:// or npipe://`);
  };
  if (scheme === 'unix' || scheme === 'npipe') return rest === '' ? wrong() : { kind: 'socket', path: rest };
  if (!['tcp', 'http', 'https', 'ssh'].includes(scheme) || rest === '') return wrong();
  let url: URL;
  try {
    url = new URL(`${scheme === 'ssh' ? 'ssh' : 'http'}://${rest}`);
  } catch {
    return wrong();
  }
  if (url.hostname === '') return wrong();
  if (scheme === 'ssh') {
    const path = url.pathname === '/' ? '' : url.pathname;
    return { kind: 'ssh', host: url.hostname, port: url.port || undefined, user: decodeURIComponent(url.username) || undefined, remoteSocket: path || undefined };
  }
  const secured = tls ?? (scheme === 'https' ? {} : undefined);
  return { kind: 'tcp', host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(/:(\d+)(\/|$)/.exec(rest)?.[1] ?? (secured ? 2376 : 2375)), tls: secured };
}
