/** Ports of a sandbox: which it listens on, and ways to them. */
import { readFile, readdir, readlink } from 'node:fs/promises';
import { connect as connectHere } from 'node:net';
import type { Duplex } from 'node:stream';
import { spawnFailure, startProgram } from '../command.js';
import { NothingListens, SandboxError } from '../errors.js';
import type { ListeningPort, NetworkPolicy } from '../provider.js';
import { listeningSockets, portsOf } from '../procNet.js';
import { HOST_ENVIRONMENT } from './host.js';
import { outer, type Target } from './joined.js';
import { descendants } from './processes.js';
import { Relayed } from '../relayed.js';
import { PROXY_PORT } from '../network/relayPrograms.js';
import { RELAY_PROGRAM } from '../relayProgram.js';

/** Exit code of the relay when the connection was refused. */
const REFUSED = 3;

export class Ports {
  private readonly open = new Set<Duplex>();

  constructor(
    private readonly target: Target,
    private readonly network: NetworkPolicy,
    /** Processes that have joined it. */
    private readonly joined: () => readonly number[],
  ) {}

  async list(): Promise<ListeningPort[]> {
    const { gate } = this.target;
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${gate}/net/${name}`, 'latin1').catch(() => '')));
    const sockets = listeningSockets(tables.join('\n'));
    if (this.network !== 'full') return portsOf(typeof this.network === 'string' ? sockets : sockets.filter(({ port }) => port !== PROXY_PORT));
    if (sockets.length === 0) return [];
    // It shares the machine's network, so what is its own is told by who holds the sockets.
    const own = await this.socketsOfProcesses();
    return portsOf(sockets.filter(({ inode }) => own.has(inode)));
  }

  async connect(port: number, signal: AbortSignal): Promise<Duplex> {
    const connection = this.network !== 'full' ? await this.relay(port, signal) : await this.direct(port, signal);
    this.open.add(connection);
    connection.once('close', () => this.open.delete(connection));
    return connection;
  }

  /** Ends all connections. */
  end(): void {
    for (const connection of this.open) connection.destroy();
  }

  private async direct(port: number, signal: AbortSignal): Promise<Duplex> {
    if (!(await this.list()).some((each) => each.port === port)) throw new NothingListens(port);
    const socket = connectHere({ port, host: 'localhost', autoSelectFamily: true, signal });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject)).catch((error: NodeJS.ErrnoException) => {
      signal.throwIfAborted();
      throw error.code === 'ECONNREFUSED' ? new NothingListens(port) : error;
    });
    return socket;
  }

  /** A process in the sandbox's network namespace, but otherwise outside, that passes on what comes. */
  private async relay(port: number, signal: AbortSignal): Promise<Duplex> {
    const { host } = this.target.ability;
    const [file, ...args] = [...outer(this.target), host.nsenter, `--net=/proc/${this.target.gate}/ns/net`, '--', host.perl, '-e', RELAY_PROGRAM, '--', String(port)];
    const child = startProgram(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: HOST_ENVIRONMENT, cwd: '/', detached: true });
    const kill = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    try {
      let said = '';
      await new Promise<void>((resolve, reject) => {
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (said === '+') resolve();
        });
        child.once('error', (error) => reject(spawnFailure(error)));
        child.once('close', (code) => reject(code === REFUSED ? new NothingListens(port) : new SandboxError(`no connection to port ${port}: ${said.trim() || 'the sandbox has ended'}`)));
      });
      signal.throwIfAborted();
    } catch (error) {
      kill();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', kill);
    }
    const connection = new Relayed(child.stdout, child.stdin);
    connection.once('close', kill);
    return connection;
  }

  private async socketsOfProcesses(): Promise<Set<number>> {
    const roots = [this.target.gate, ...this.joined()];
    const pids = [...new Set((await Promise.all(roots.map(descendants))).flat())];
    const links = await Promise.all(
      pids.map(async (pid) => {
        const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
        return Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
      }),
    );
    return new Set(links.flat().flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []).map(Number));
  }
}
