/** Whose account at which gateway: by variables, else by the file that Beam's own command line writes (`~/.beam/config.ini`). The token stays in memory. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ProviderUnavailable } from '../errors.js';
import type { CreationLimiter } from '../remote/limiter.js';
import { limiterOf as limiterOfAccount } from '../remote/limiters.js';

export interface Account {
  readonly token: string;
  /** Of the REST gateway, without a slash at its end. */
  readonly gatewayUrl: string;
}

const GATEWAY_URL = 'https://app.beam.cloud';
/** The gateway of Beam's own service as its command line knows it, by gRPC. */
const GRPC_HOST = 'gateway.beam.cloud';
/** Where a beta9 of one's own answers HTTP if its file does not say. */
const HTTP_PORT = 1994;
export const HINT = 'sign in to Beam in VS Code, or set BEAM_TOKEN (and BEAM_GATEWAY_URL for a beta9 of your own)';

/** @throws ProviderUnavailable without a token */
export function accountOf(environment: NodeJS.ProcessEnv): Account {
  const file = environment.BEAM_TOKEN ? {} : defaultsIn(environment);
  const token = environment.BEAM_TOKEN || file.token;
  if (!token) throw new ProviderUnavailable('BEAM_TOKEN is not set, and there is no token in ~/.beam/config.ini', HINT, { problem: 'signed-out' });
  const url = environment.BEAM_GATEWAY_URL || addressIn(file);
  return { token, gatewayUrl: url.replace(/\/+$/, '') };
}

function addressIn({ gateway_host: host, gateway_port: port, gateway_http_port: httpPort }: Record<string, string>): string {
  if (!host || host === GRPC_HOST) return GATEWAY_URL;
  return port === '443' ? `https://${host}` : `http://${host}:${httpPort || HTTP_PORT}`;
}

/** The section `default` of the file. */
function defaultsIn(environment: NodeJS.ProcessEnv): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(join(environment.HOME || homedir(), '.beam', 'config.ini'), 'utf8');
  } catch {
    return {};
  }
  return readSection(text, 'default');
}

/** Names and values of one section, as Python's `configparser` writes them. */
export function readSection(text: string, wanted: string): Record<string, string> {
  const found: Record<string, string> = {};
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    const [, title] = /^\[(.+)\]\s*$/.exec(line) ?? [];
    if (title !== undefined) section = title;
    const [, name, value] = /^([\w.-]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (title === undefined && name !== undefined && section.toLowerCase() === wanted) found[name.toLowerCase()] = value!;
  }
  return found;
}

/** Beam limits how many containers live rather than how fast they come; the number is that of its smallest plan. */
const SMALLEST = { perSecond: 10, concurrent: 30 };

export const limiterOf = ({ token, gatewayUrl }: Account, environment: NodeJS.ProcessEnv): CreationLimiter => limiterOfAccount('beam', [gatewayUrl, token], SMALLEST, environment);
