/** Whoever asks something of the engine: what of its environment counts. */
import type { OfferedChat } from '../rollout/policies/llm/chat.js';
import { addressNames } from '../sandbox/account.js';
import { PROVIDERS } from '../sandbox/registry.js';

export type { OfferedChat } from '../rollout/policies/llm/chat.js';
export { Redactor } from '../rollout/secrets.js';

export interface Caller {
  /** Variables that programs are started with and that say where engines are. */
  readonly environment: NodeJS.ProcessEnv;
  /** Values of variables that a template names as secrets, asked for when they are needed. */
  readonly variables: (names: readonly string[]) => Promise<NodeJS.ProcessEnv>;
  /** Models that it offers, if it is an editor. */
  readonly chat?: OfferedChat;
}

export const thisProcess: Caller = { environment: process.env, variables: () => Promise.resolve(process.env) };

const ACCOUNTS = PROVIDERS.flatMap(({ account }) => account ?? []);

/**
 * The variables that make a difference to where sandboxes are found and to programs of this machine. Two callers that agree in all of them
 * share their connections to providers.
 */
const ENVIRONMENT_NAMES: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'SSH_AUTH_SOCK'],
  ...['SystemRoot', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_TLS', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'CONTAINER_HOST'],
  ...ACCOUNTS.flatMap((account) => [...addressNames(account), ...account.limits]),
];

/** Keys of accounts, which go from caller to engine and stay in memory there. */
const KEY_NAMES: readonly string[] = ACCOUNTS.map(({ key }) => key);

const pick = (environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> => Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));

/** Keys of accounts in an environment: what must not be written anywhere. */
export const keysIn = (environment: NodeJS.ProcessEnv): readonly string[] => Object.values(pick(environment, KEY_NAMES));

/** All that makes a difference. */
export const relevant = (environment: NodeJS.ProcessEnv): Record<string, string> => pick(environment, [...ENVIRONMENT_NAMES, ...KEY_NAMES]);

/** The part of it that may be written down, or be the environment of a process that outlives its caller. */
export const lasting = (environment: NodeJS.ProcessEnv): Record<string, string> => pick(environment, ENVIRONMENT_NAMES);
