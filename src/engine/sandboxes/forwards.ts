/** Ports of this machine that lead to ports of a sandbox: on 127.0.0.1 only, each connection through the sandbox's provider. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PortForward } from '../sandboxReports.js';

/** At once; a browser opens six for each page. */
const MOST_CONNECTIONS = 256;
/** How long whoever connected may take to close when there is nothing more to come. */
const LINGER_MS = 5_000;
/** Below it only root may listen. */
const FIRST_FREE_PORT = 1024;

interface Forward {
  readonly server: Server;
  readonly localPort: number;
  readonly connections: Set<Socket>;
}

export class Forwards {
  private readonly open = new Map<number, Promise<Forward>>();
  private readonly listening = new Map<number, Forward>();

  constructor(
    private readonly connect: (port: number) => Promise<Duplex>,
    private readonly onChange: () => void,
  ) {}

  list(): PortForward[] {
    return [...this.listening].map(([port, { localPort, connections }]) => ({ port, localPort, connections: connections.size }));
  }

  /** The forward of a port, made if there is none. Rejects if `localPort` was asked for and is taken. */
  async start(port: number, localPort?: number): Promise<PortForward> {
    let forward = this.open.get(port);
    const there = await forward;
    if (there && localPort !== undefined && there.localPort !== localPort) {
      await this.stop(port);
      forward = undefined;
    }
    if (!forward) {
      forward = this.make(port, localPort);
      this.open.set(port, forward);
      forward.catch(() => this.open.delete(port));
    }
    const { localPort: chosen, connections } = await forward;
    return { port, localPort: chosen, connections: connections.size };
  }

  async stop(port: number): Promise<void> {
    const forward = await this.open.get(port)?.catch(() => undefined);
    this.open.delete(port);
    this.listening.delete(port);
    if (!forward) return;
    const closed = once(forward.server, 'close');
    forward.server.close();
    for (const socket of forward.connections) socket.destroy();
    await closed;
    this.onChange();
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.keys()].map((port) => this.stop(port)));
  }

  private async make(port: number, localPort: number | undefined): Promise<Forward> {
    const connections = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
      void this.carry(socket, port);
    });
    server.maxConnections = MOST_CONNECTIONS;
    if (localPort !== undefined) await listen(server, localPort);
    else await listen(server, port < FIRST_FREE_PORT ? 0 : port).catch(() => listen(server, 0));
    server.on('error', () => undefined);
    const forward = { server, connections, localPort: (server.address() as { port: number }).port };
    this.listening.set(port, forward);
    this.onChange();
    return forward;
  }

  /** One connection to its end. One that cannot be made is closed, which is what the other side would see of a refused one. */
  private async carry(socket: Socket, port: number): Promise<void> {
    socket.on('error', () => undefined);
    const inside = await this.connect(port).catch(() => undefined);
    if (!inside || socket.destroyed) {
      socket.destroy();
      inside?.destroy();
      return;
    }
    // What one side has sent before it closed still goes to the other: each is ended, not cut, when the other has ended.
    socket.pipe(inside);
    inside.pipe(socket);
    inside.on('error', () => undefined);
    inside.once('close', () => {
      if (!inside.readableEnded) return socket.destroy();
      socket.unpipe(inside);
      socket.resume().setTimeout(LINGER_MS, () => socket.destroy());
    });
    socket.once('close', () => inside.destroy());
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`port ${port} of this machine is taken; choose another one`, { cause: error }) : error;
  });
}
