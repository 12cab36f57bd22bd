/** Credentials for image registries, from where `docker login` put them: `config.json` or a credential helper. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configFolder } from './contexts.js';
import { surroundings, type Surroundings } from './endpoint.js';

/** In the form of the engine's API. */
export interface RegistryAuth {
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly serveraddress: string;
}

interface Config {
  auths?: Record<string, { auth?: string; identitytoken?: string }>;
  credHelpers?: Record<string, string>;
  credsStore?: string;
}

const HELPER_TIMEOUT_MS = 10_000;
/** Under this name Docker Hub is known to `docker login`. */
const DOCKER_HUB = 'https://index.docker.io/v1/';

/** Registry of a reference: what stands before the first slash, if it looks like a host. */
export function registryOf(reference: string): string {
  const [first, ...rest] = reference.split('/');
  return rest.length > 0 && (/[.:]/.test(first!) || first === 'localhost') ? first! : DOCKER_HUB;
}

/** Credentials for one registry; undefined if there are none, or if they cannot be had. */
export async function registryAuth(registry: string, around: Surroundings = surroundings()): Promise<RegistryAuth | undefined> {
  return lookUp(await readConfig(around), registry);
}

/** Credentials for every registry that the user is logged in to: a build may start from an image of any of them. */
export async function allRegistryAuths(around: Surroundings = surroundings()): Promise<Record<string, RegistryAuth>> {
  const config = await readConfig(around);
  const names = [...new Set([...Object.keys(config.auths ?? {}), ...Object.keys(config.credHelpers ?? {})])];
  const found = await Promise.all(names.map(async (name) => [name, await lookUp(config, name)] as const));
  return Object.fromEntries(found.filter((entry): entry is [string, RegistryAuth] => entry[1] !== undefined));
}

async function readConfig({ env, home }: Surroundings): Promise<Config> {
  try {
    return JSON.parse(await readFile(join(configFolder(env, home), 'config.json'), 'utf8')) as Config;
  } catch {
    // Public images need none; for others the registry's refusal says what is missing.
    return {};
  }
}

async function lookUp(config: Config, registry: string): Promise<RegistryAuth | undefined> {
  const helper = config.credHelpers?.[registry] ?? config.credsStore;
  if (helper !== undefined && /^[\w.-]+$/.test(helper)) return fromHelper(helper, registry);
  const { auth, identitytoken } = config.auths?.[registry] ?? {};
  if (identitytoken) return { identitytoken, serveraddress: registry };
  if (!auth) return undefined;
  const [username, ...password] = Buffer.from(auth, 'base64').toString().split(':');
  return { username, password: password.join(':'), serveraddress: registry };
}

/** Asks `docker-credential-NAME get`, which is given the registry on its standard input and prints JSON. */
function fromHelper(name: string, registry: string): Promise<RegistryAuth | undefined> {
  return new Promise((resolve) => {
    const child = execFile(`docker-credential-${name}`, ['get'], { timeout: HELPER_TIMEOUT_MS }, (error, stdout) => {
      if (error) return resolve(undefined);
      try {
        const { Username, Secret } = JSON.parse(stdout) as { Username: string; Secret: string };
        resolve(Username === '<token>' ? { identitytoken: Secret, serveraddress: registry } : { username: Username, password: Secret, serveraddress: registry });
      } catch {
        resolve(undefined);
      }
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(registry);
  });
}
