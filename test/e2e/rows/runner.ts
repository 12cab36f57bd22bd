/**
 * A runner for a window to connect to, `runner.ts PLACE ROOT COUNT`, whose live sandboxes are rows and nothing behind them; whatever else it is asked the real engine
 * answers. Its parent tells it what to do, and is told what the window has asked.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { SandboxReport } from '../../../src/runner/sandboxApi.js';
import type { Handlers } from '../../../src/runner/handlers/handlers.js';
import { allHandlers } from '../../../src/runner/handlers/index.js';
import { identityOf } from '../../../src/runner/identity.js';
import { Journal } from '../../../src/runner/journal.js';
import { acquireLock } from '../../../src/store/lock.js';
import { RunnerLog } from '../../../src/runner/log.js';
import { makePrivate, placeIn } from '../../../src/runner/place.js';
import { RunnerServer } from '../../../src/runner/server.js';
import { Session } from '../../../src/runner/session.js';

/** `figures`: what ten rows use changes ten times a second. `rows`: and each second one ends and another begins, in between the others. */
export type Churn = 'none' | 'figures' | 'rows';

export interface Asked {
  readonly lists: number;
  /** Requests of any kind. */
  readonly all: number;
  /** Ids, in the order in which they were ended. */
  readonly terminated: readonly string[];
  /** How often what the rows say has changed. */
  readonly changes: number;
}

const EVERY_MS = 100;
const AT_ONCE = 10;
const CREATED_MS = Date.now() - 3_600_000;

class Rows {
  private readonly rows = new Map<number, SandboxReport>();
  private next: number;
  private step = 0;
  changes = 0;

  constructor(count: number) {
    for (let index = 0; index < count; index += 1) this.rows.set(index, row(index));
    this.next = count;
  }

  /** Created at times in between those of others, so that a row appears among them. */
  change(churn: Churn): void {
    this.step += 1;
    this.changes += 1;
    const keys = [...this.rows.keys()];
    // The first ones are those on screen.
    for (let one = 0; one < AT_ONCE; one += 1) this.use(keys[(one * 3) % 30]!);
    if (churn !== 'rows' || this.step % (1000 / EVERY_MS) !== 0) return;
    this.rows.delete(keys[5 + (this.step % 7)]!);
    this.rows.set(this.next, { ...row(this.next), createdAt: CREATED_MS + 4.5 });
    this.next += 1;
  }

  list(): SandboxReport[] {
    return [...this.rows.values()];
  }

  end(id: string): void {
    for (const [key, each] of this.rows) if (each.id === id) this.rows.delete(key);
  }

  private use(key: number): void {
    const { usage, ...rest } = this.rows.get(key)!;
    this.rows.set(key, { ...rest, usage: { ...usage!, cpu: ((usage!.cpu! * 100 + 7) % 100) / 100, memory: usage!.memory + 1_000_000 } });
  }
}

function row(index: number): SandboxReport {
  const id = `bw-${String(index).padStart(4, '0')}`;
  return {
    id, provider: 'bubblewrap', state: 'running', createdAt: CREATED_MS + index, labels: { owner: 'o', template: 'hello', expires: Date.now() + 3_600_000 },
    origin: 'opened', attached: true, orphan: false, ageMs: 240_000, remainingMs: 3_360_000, forwards: [], services: [],
    usage: { cpu: 0.03, cpuMs: 900, memory: 41_000_000, pids: 3, at: 1 },
  };
}

async function main(folder: string, root: string, count: number): Promise<void> {
  const place = placeIn(folder);
  await makePrivate(place);
  if (!(await acquireLock(folder))) throw new Error(`${folder} has a runner`);
  const token = randomBytes(32).toString('hex');
  await writeFile(place.token, token, { mode: 0o600 });
  const welcome = { ...(await identityOf(resolve('dist/runner.mjs'))), pid: process.pid, startedAt: Date.now() };
  const log = new RunnerLog(place.log);
  const server = new RunnerServer({ token, welcome, log, journal: await Journal.open(place.journal, await currentOwner()), onEnd: () => undefined });
  const rows = new Rows(count);
  const sessions = new Set<Session>();
  const asked = { lists: 0, all: 0, terminated: [] as string[] };
  const changed = () => sessions.forEach((session) => session.send('changed', { root, kind: 'sandboxes' }));
  const handlers: Handlers = {
    ...allHandlers(server),
    'sandbox/list': () => {
      asked.lists += 1;
      return Promise.resolve(rows.list());
    },
    'sandbox/terminate': ({ id }) => {
      asked.terminated.push(id);
      rows.end(id);
      changed();
      return Promise.resolve(null);
    },
  };
  const listener = createServer((socket) => {
    new Session(socket, {
      token,
      welcome,
      log: () => undefined,
      answer: (from, method, params, signal) => {
        asked.all += 1;
        return (handlers[method as keyof Handlers] as (params: unknown, call: object) => Promise<unknown>)(params, { session: from, signal });
      },
      onOpen: (opened) => sessions.add(opened),
      onClose: (closed) => sessions.delete(closed),
      onSecrets: () => undefined,
    });
  });
  await new Promise<void>((begin) => listener.listen(place.socket, begin));

  let timer: NodeJS.Timeout | undefined;
  process.on('message', (churn: Churn | 'asked') => {
    if (churn === 'asked') return void process.send!({ ...asked, changes: rows.changes });
    clearInterval(timer);
    if (churn === 'none') return;
    timer = setInterval(() => {
      rows.change(churn);
      changed();
    }, EVERY_MS);
  });
  process.once('disconnect', () => process.exit());
  process.send!('ready');
}

void main(process.argv[2]!, process.argv[3]!, Number(process.argv[4]));
