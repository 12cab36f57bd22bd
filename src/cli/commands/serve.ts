/** Sandboxes of this machine for clients of a vendor's protocol. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { UsageError } from '../failure.js';
import { providerOption } from '../options.js';
import { oneLine, plainJson } from '../plain.js';
import { Session, type CommonOptions } from '../session.js';

/** A key of one's own, for clients that are started by somebody else. */
const KEY_VARIABLE = 'RL_SANDBOXES_SERVE_KEY';
const SHORTEST_KEY = 20;

interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly provider?: string;
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('sandboxes of this machine for any client of a vendor\'s protocol, until Ctrl-C; prints the variables that point clients at it')
    .addOption(new Option('--api <protocol>', 'the protocol').choices(['e2b']).makeOptionMandatory())
    .option('--port <n>', 'port to listen on; a free one if absent', portNumber, 0)
    .option('--host <address>', 'address to listen on; what is sent is not encrypted', '127.0.0.1')
    .addOption(providerOption())
    .action((_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>();
      return Session.run(options, (session) => serve(session, options));
    });
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port, from 0 to 65535.');
  return port;
}

async function serve(session: Session, { port, host, provider }: ServeOptions): Promise<void> {
  const given = process.env[KEY_VARIABLE];
  if (given !== undefined && given.length < SHORTEST_KEY) throw new UsageError(`${KEY_VARIABLE} is shorter than ${SHORTEST_KEY} characters`);
  const apiKey = given ?? `e2b_${randomBytes(20).toString('hex')}`;
  const [{ Service }, { LocalAccount }] = await Promise.all([import('../../facade/e2b/service.js'), import('../../facade/local.js')]);
  const account = new LocalAccount(session.engine, { provider, log: (line) => session.note(oneLine(line, 500)) });
  await account.prepare(session.signal);
  const server = createServer();
  const service = new Service(account, { apiKey, domain: () => `localhost:${portOf(server)}` });
  server.on('request', (request, response) => service.handle(request, response)).on('upgrade', (request, socket, head) => service.upgrade(request, socket, head));
  // Commands and uploads take as long as they take.
  server.requestTimeout = 0;
  await listen(server, host, port);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`;
  const variables = { E2B_API_URL: url, E2B_SANDBOX_URL: url, ...(given === undefined && { E2B_API_KEY: apiKey }) };
  session.print(session.json ? plainJson(variables) : Object.entries(variables).map(([name, value]) => `export ${name}=${value}`).join('\n'));
  session.note(`E2B's protocol at ${url}${given === undefined ? '' : `, with the key of ${KEY_VARIABLE}`}; Ctrl-C ends it and all of its sandboxes.`);
  try {
    if (!session.signal.aborted) await once(session.signal, 'abort');
  } finally {
    server.close();
    server.closeAllConnections();
    await account.close();
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw new UsageError(`port ${port} is taken: choose another one with --port`);
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') throw new UsageError(`${host} is no address of this machine`);
    throw error;
  });
}
