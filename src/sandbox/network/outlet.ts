/** The only way out of a sandbox with a list of allowed hosts: a relay in its network namespace, and the proxy here. */
import type { Readable, Writable } from 'node:stream';
import { SandboxError, Unsupported } from '../errors.js';
import type { NetworkPolicy } from '../provider.js';
import { AllowList } from './allowList.js';
import { Channels } from './channels.js';
import { Proxy, type NetworkRequest } from './proxy.js';
import { NO_PORT, PROXY_PORT } from './relayPrograms.js';

/** Exit code of a script that finds nothing to run the relay with. */
export const NO_PROGRAM = 4;
const START_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** A relay that has been started. */
export interface Relay {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its exit code; rejects if that cannot be known. */
  readonly exit: Promise<number>;
  kill(): void;
}

interface Started {
  readonly relay: Relay;
  readonly channels: Channels;
}

export interface OutletParts {
  readonly list: AllowList;
  readonly onRequest?: (request: NetworkRequest) => void;
  readonly start: () => Relay;
}

export class Outlet {
  private readonly proxy: Proxy;
  private starting: Promise<Started> | undefined;
  private over = false;

  constructor(private readonly parts: OutletParts) {
    this.proxy = new Proxy(parts.list, { onRequest: parts.onRequest });
  }

  /** Resolves when the relay listens. One that does not answer, as it is when all in a sandbox were killed and it among them, is started again. */
  async ready(): Promise<void> {
    const { starting } = this;
    const started = await starting?.catch(() => undefined);
    if (started && (await started.channels.there(ANSWER_TIMEOUT_MS))) return;
    if (this.starting === starting && !this.over) {
      started?.relay.kill();
      this.starting = this.start();
    }
    await this.starting;
  }

  /** Ends all connections and the relay. */
  close(): void {
    this.over = true;
    this.proxy.close();
    this.starting?.then(({ relay }) => relay.kill(), () => undefined);
  }

  private async start(): Promise<Started> {
    const relay = this.parts.start();
    const channels = new Channels(relay.stdout, relay.stdin, (connection) => this.proxy.serve(connection));
    const exit = relay.exit.catch((error: Error) => error).finally(() => channels.end());
    let said = '';
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        relay.stderr.on('data', (chunk: Buffer) => {
          said = (said + chunk.toString('latin1')).slice(0, 500);
          if (said.startsWith('+')) resolve();
        });
        timer = setTimeout(() => reject(new SandboxError('the relay of the allowed network did not start in time')), START_TIMEOUT_MS);
        void exit.then((how) => reject(this.failure(how, said)));
      });
      return { relay, channels };
    } catch (error) {
      relay.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private failure(how: number | Error, said: string): Error {
    if (how instanceof Error) return how;
    if (how === NO_PROGRAM) return new Unsupported('a list of allowed hosts needs perl or python3 in the image: the relay that leads to the proxy runs in the container');
    if (how === NO_PORT) return new SandboxError(`something in the sandbox listens on port ${PROXY_PORT}, where its proxy belongs`);
    return new SandboxError(`the relay of the allowed network could not be started: ${said.replace(/[^ -~]/g, '?').trim() || `exit code ${how}`}`);
  }
}

/** What a sandbox's network policy allows, if it is a list. @throws Unsupported at an entry that is none */
export const listOf = (network: NetworkPolicy): AllowList | undefined => (typeof network === 'string' ? undefined : new AllowList(network.allow));

/** Variables by which programs find the proxy. */
export function proxyVariables(network: NetworkPolicy): Readonly<Record<string, string>> {
  if (typeof network === 'string') return {};
  const url = `http://127.0.0.1:${PROXY_PORT}`;
  const own = 'localhost,127.0.0.1,::1';
  return {
    ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [[name, url], [name.toLowerCase(), url]])),
    ...{ NO_PROXY: own, no_proxy: own },
    // What Node.js needs to look at them.
    NODE_USE_ENV_PROXY: '1',
  };
}
