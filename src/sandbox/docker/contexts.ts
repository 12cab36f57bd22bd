/** Docker's configuration folder, read only: the current context, and what the context store knows of one. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The chosen context does not exist or cannot be read: never a reason to talk to another engine instead. */
export class WrongContext extends Error {}

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The server's certificate is not checked. */
  readonly skipVerify?: boolean;
}

export interface ContextEndpoint {
  /** As written: `unix://`, `tcp://`, `ssh://`, `npipe://`; empty for the default socket. */
  readonly host: string;
  readonly tls?: TlsFiles;
}

export const configFolder = (env: NodeJS.ProcessEnv, home: string): string => env.DOCKER_CONFIG || join(home, '.docker');

/** `currentContext` of `config.json`; undefined if there is no such file or no such key. */
export async function currentContext(folder: string): Promise<string | undefined> {
  const file = join(folder, 'config.json');
  const text = await read(file);
  if (text === undefined) return undefined;
  const config = parse(text, file) as { currentContext?: unknown };
  return typeof config.currentContext === 'string' && config.currentContext !== '' ? config.currentContext : undefined;
}

/**
 * Endpoint of a context: `contexts/meta/<sha256 of its name>/meta.json`, its TLS files beside in `contexts/tls`, as Docker's CLI stores them.
 * @throws WrongContext
 */
export async function contextEndpoint(folder: string, name: string): Promise<ContextEndpoint> {
  const id = createHash('sha256').update(name).digest('hex');
  const file = join(folder, 'contexts', 'meta', id, 'meta.json');
  const text = await read(file);
  if (text === undefined) throw new WrongContext(`the Docker context "${name}" does not exist in ${folder}`);
  const meta = parse(text, file) as { Endpoints?: { docker?: { Host?: unknown; SkipTLSVerify?: unknown } } };
  const endpoint = meta.Endpoints?.docker;
  if (!endpoint || (endpoint.Host !== undefined && typeof endpoint.Host !== 'string')) throw new WrongContext(`the Docker context "${name}" has no Docker endpoint (${file})`);
  const files = await tlsFiles(join(folder, 'contexts', 'tls', id, 'docker'));
  const tls = files || endpoint.SkipTLSVerify ? { ...files, skipVerify: endpoint.SkipTLSVerify === true } : undefined;
  return { host: endpoint.Host ?? '', tls };
}

/** `ca.pem`, `cert.pem` and `key.pem` of a folder; undefined if it has none of them. */
export async function tlsFiles(folder: string): Promise<TlsFiles | undefined> {
  const [ca, cert, key] = await Promise.all(['ca.pem', 'cert.pem', 'key.pem'].map((name) => read(join(folder, name))));
  return ca === undefined && cert === undefined && key === undefined ? undefined : { ca, cert, key };
}

function read(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new WrongContext(`${file} cannot be read: ${error.message}`);
  });
}

function parse(text: string, file: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new WrongContext(`${file} is not valid JSON`);
}
