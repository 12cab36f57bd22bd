/** One address for all of the protocol: the account, the daemons in the sandboxes, and whatever else listens in them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isSigned } from './access.js';
import { Control } from './control.js';
import { handleEnvd } from './envd.js';
import type { Account, Machine } from './machine.js';
import { passOn, passOnUpgrade } from './ports.js';

const DAEMON_PORT = 49983;

export interface ServiceOptions {
  readonly apiKey: string;
  /** Sandboxes are `PORT-ID.DOMAIN`; null for no addresses of their own. Asked for when it is needed: it may have the port of a server in it. */
  readonly domain: () => string | null;
}

/** What a request that is not for the account is for. */
interface Aim {
  readonly sandboxID: string;
  /** Absent: nobody has it. */
  readonly machine?: Machine;
  readonly port: number;
}

export class Service {
  private readonly control: Control;

  constructor(
    private readonly account: Account,
    options: ServiceOptions,
  ) {
    this.control = new Control(account, options.apiKey, options.domain);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const url = urlOf(request);
    if (!url) return void response.writeHead(400).end();
    const aim = this.aimOf(request, url);
    if (!aim) return void this.control.handle(request, response, url);
    const { machine, port } = aim;
    if (machine?.state !== 'running') return notThere(response, aim.sandboxID);
    if (port === DAEMON_PORT) void handleEnvd(machine, request, response, url);
    else void passOn(machine, port, request, response);
  }

  /** A connection that becomes another protocol's, such as a web socket: only to what listens in a sandbox. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = urlOf(request);
    const aim = url && this.aimOf(request, url);
    if (aim?.machine?.state === 'running' && aim.port !== DAEMON_PORT) void passOnUpgrade(aim.machine, aim.port, request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  }

  /** Undefined for the account itself. A sandbox is named by headers, by its host, or, for a file, by a signature that only it can have made. */
  private aimOf(request: IncomingMessage, url: URL): Aim | undefined {
    const named = request.headers['e2b-sandbox-id'];
    const [, hostPort, hostId] = /^(\d{1,5})-(i[0-9a-f]{19})\./.exec(request.headers.host ?? '') ?? [];
    const sandboxID = named === undefined ? hostId : String(named);
    if (sandboxID !== undefined) return { sandboxID, machine: this.account.live.get(sandboxID), port: Number(hostPort ?? request.headers['e2b-sandbox-port'] ?? DAEMON_PORT) };
    if (!url.searchParams.has('signature')) return undefined;
    const machine = [...this.account.live.values()].find(({ envdAccessToken }) => isSigned(envdAccessToken, request, url));
    return { sandboxID: '', machine, port: DAEMON_PORT };
  }
}

function urlOf(request: IncomingMessage): URL | undefined {
  return URL.canParse(request.url!, 'http://local') ? new URL(request.url!, 'http://local') : undefined;
}

/** As the proxy in front of the service's sandboxes says it. */
export function notThere(response: ServerResponse, sandboxId: string): void {
  response.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify({ sandboxId, message: 'The sandbox was not found', code: 502 }));
}
