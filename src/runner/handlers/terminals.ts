/** Terminals in sandboxes. They end with the connection that has opened them. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { SHELL } from '../../engine/sandboxes/open.js';
import type { ExecProcess, TerminalSize } from '../../sandbox/provider.js';
import type { SandboxRequests } from '../sandboxApi.js';
import type { Session } from '../session.js';
import type { Outflows } from '../streams.js';
import type { HandlersOf, Services } from './handlers.js';

type Requests = Extract<keyof SandboxRequests, `terminal/${string}` | 'stream/ack'>;

const MOST_CELLS = 2000;

interface Terminal {
  readonly keys: PassThrough;
  readonly child: ExecProcess;
  readonly stop: AbortController;
}

export function terminalHandlers(services: Services, streams: Outflows): HandlersOf<Requests> {
  const sessions = new WeakMap<Session, Map<string, Terminal>>();
  const get = (session: Session, name: string): Terminal | undefined => sessions.get(session)?.get(name);

  /** Sends what it shows, then how it ended. */
  const follow = async (name: string, session: Session, { child, stop }: Terminal): Promise<void> => {
    child.stderr.resume();
    try {
      const sent = streams.open(session, name).send(child.stdout, 'stdout');
      sent.catch((error: unknown) => stop.abort(error));
      const { code } = await child.exit;
      await sent;
      session.send('terminal/exit', { terminal: name, code });
    } catch (error) {
      session.send('terminal/exit', { terminal: name, problem: (error as Error).message });
    } finally {
      streams.close(session, name);
      sessions.get(session)?.delete(name);
    }
  };

  return {
    'terminal/open': async ({ root, id, argv, cwd, env, size }, { session, ...call }) => {
      const { sandbox } = (await services.engine(root, { session, ...call })).held.get(id);
      const [keys, stop, name] = [new PassThrough(), new AbortController(), randomUUID()];
      const child = sandbox.exec(argv ?? SHELL, { cwd, env, stdin: keys, tty: checkSize(size), signal: AbortSignal.any([session.closed, stop.signal]) });
      const terminal: Terminal = { keys, child, stop };
      if (!sessions.has(session)) sessions.set(session, new Map());
      sessions.get(session)!.set(name, terminal);
      // Nothing of it is sent before its name.
      setImmediate(() => void follow(name, session, terminal));
      return { terminal: name };
    },
    'terminal/input': async ({ terminal, data }, { session }) => {
      const keys = get(session, terminal)?.keys;
      if (keys && !keys.write(data)) await new Promise<void>((resolve) => keys.once('drain', resolve).once('close', resolve));
      return null;
    },
    'terminal/resize': ({ terminal, size }, { session }) => {
      get(session, terminal)?.child.resize(checkSize(size));
      return Promise.resolve(null);
    },
    'terminal/close': ({ terminal }, { session }) => {
      get(session, terminal)?.stop.abort(new Error('the terminal was closed'));
      return Promise.resolve(null);
    },
    'stream/ack': ({ stream, bytes }, { session }) => {
      streams.acknowledge(session, stream, bytes);
      return Promise.resolve(null);
    },
  };
}

function checkSize({ columns, rows }: TerminalSize): TerminalSize {
  const sound = (cells: number): number => Math.min(MOST_CELLS, Math.max(1, Math.trunc(cells) || 1));
  return { columns: sound(columns), rows: sound(rows) };
}
