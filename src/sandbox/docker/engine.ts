/** The connection to the engine: found on first use, found again after it was lost. */
import Docker from 'dockerode';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { inspect } from 'node:util';
import type { OperationOptions } from '../provider.js';
import { within } from '../deadline.js';
import { DialStdioAgent } from './dialStdio.js';
import { surroundings, type Endpoint, type Surroundings } from './endpoint.js';
import { ProviderUnavailable } from '../errors.js';
import { translate } from './failures.js';
import { DOCKER, type EngineKind } from './kind.js';

const PING_TIMEOUT_MS = 5000;

export interface Connected {
  readonly docker: Docker;
  readonly endpoint: Endpoint;
  readonly close: () => void;
}

export class Engine {
  private connection: Promise<Connected> | undefined;

  constructor(
    readonly around: Surroundings = surroundings(),
    readonly kind: EngineKind = DOCKER,
  ) {}

  /** The first candidate that answers, or the first one if none does: the calls that follow say why it does not. */
  connect(): Promise<Connected> {
    if (!this.connection) {
      const connection = this.search();
      connection.catch(() => this.forget(connection));
      this.connection = connection;
    }
    return this.connection;
  }

  /**
   * One call, with a deadline, its failure translated. `doing` begins a sentence: "Starting the sandbox". An engine that does not answer is
   * searched for again by the next call.
   */
  async call<T>(doing: string, options: OperationOptions | undefined, defaultMs: number, work: (docker: Docker, signal: AbortSignal) => Promise<T>): Promise<T> {
    let connected: Connected | undefined;
    const connection = this.connect();
    try {
      return await within(doing, options, defaultMs, async (signal) => {
        connected = await connection;
        signal.throwIfAborted();
        return work(connected.docker, plain(signal));
      });
    } catch (error) {
      options?.signal?.throwIfAborted();
      const translated = translate(error, doing, connected?.endpoint, this.kind);
      if (translated instanceof ProviderUnavailable) this.forget(connection);
      throw translated;
    }
  }

  async close(): Promise<void> {
    const connection = this.connection;
    this.connection = undefined;
    await connection?.then(({ close }) => close(), () => undefined);
  }

  /** Has the next call search again. What is under way on a connection goes on: a creation must be heard of, to be undone. */
  forget(connection = this.connection): void {
    if (this.connection === connection) this.connection = undefined;
  }

  private async search(): Promise<Connected> {
    const candidates = await this.kind.findEndpoints(this.around);
    const connections = candidates.map((candidate) => open(candidate, this.around.env));
    let chosen = connections[0]!;
    if (connections.length > 1) {
      for (const connection of connections) {
        if (await answers(connection.docker)) {
          chosen = connection;
          break;
        }
      }
    }
    for (const connection of connections) if (connection !== chosen) connection.close();
    return chosen;
  }
}

const answers = (docker: Docker): Promise<boolean> =>
  within('Asking a container engine', undefined, PING_TIMEOUT_MS, () => docker.ping()).then(
    () => true,
    () => false,
  );

/**
 * The client formats all that a request is made of for a log that is off, to any depth; an agent with its connections takes 100 ms of processor time.
 * This gives it something short to format.
 */
function plain<T extends object>(part: T): T {
  return Object.defineProperty(part, inspect.custom, { value: () => part.constructor.name, enumerable: false });
}

function open(endpoint: Endpoint, env: NodeJS.ProcessEnv): Connected {
  const { transport } = endpoint;
  const tls = transport.kind === 'tcp' ? transport.tls : undefined;
  // As many connections as there are sandboxes: each holds one for as long as it lives, and the engine does its own limiting.
  const pool = { keepAlive: true, maxSockets: Infinity };
  const agent = plain(transport.kind === 'ssh' ? new DialStdioAgent(transport, env) : tls ? new TlsAgent({ ...pool, ca: tls.ca, cert: tls.cert, key: tls.key, rejectUnauthorized: !tls.skipVerify }) : new Agent(pool));
  const address = transport.kind === 'socket' ? { socketPath: transport.path, host: undefined } : { socketPath: undefined, host: transport.kind === 'ssh' ? 'docker' : transport.host, port: transport.kind === 'ssh' ? 80 : transport.port };
  // Whatever is not set here is filled in from the environment by the client itself.
  const options: Record<string, unknown> = { ...address, protocol: tls ? 'https' : 'http', agent, ca: undefined, cert: undefined, key: undefined, pathPrefix: undefined, timeout: undefined };
  const docker = new Docker(options);
  return { docker, endpoint, close: () => agent.destroy() };
}
