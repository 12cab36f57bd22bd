/**
 * The runner: the engine as a process of its own, one for each user, detached from whoever started it. Its one argument is the folder of its
 * place. It ends by itself when another runner has that place, when nothing has needed it for a while, or when it is asked to.
 */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, connect, type Server } from 'node:net';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { shareGpus } from '../engine/engine.js';
import { currentOwner } from '../sandbox/owner.js';
import type { EndingReason } from './api.js';
import { identityOf } from './identity.js';
import { Journal } from './journal.js';
import { acquireLock } from '../store/lock.js';
import { RunnerLog } from './log.js';
import { gpuFolder, makePrivate, placeIn, type Place } from './place.js';
import { RunnerServer } from './server.js';

/** How long a runner that is just ending may keep the place. */
const LOCK_MS = 30_000;
const LOCK_POLL_MS = 50;
/** For what is written to connections to go out. */
const GOODBYE_MS = 2000;

async function main(): Promise<void> {
  const place = placeIn(process.argv[2]!);
  await makePrivate(place);
  if (!(await takePlace(place))) return;
  shareGpus(() => gpuFolder(place));
  const log = new RunnerLog(place.log);
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) console[name] = (...words: unknown[]) => log.write('info', words.map(String).join(' '));
  // One request that goes wrong must not end the runs of others.
  process.on('uncaughtException', (error) => log.write('error', `not handled: ${error.stack}`));
  process.on('unhandledRejection', (error) => log.write('error', `not handled: ${error instanceof Error ? error.stack : String(error)}`));

  const token = randomBytes(32).toString('hex');
  await rm(place.token, { force: true });
  await writeFile(place.token, token, { mode: 0o600, flag: 'wx' });
  const journal = await Journal.open(place.journal, await currentOwner());
  const welcome = { ...(await identityOf(process.argv[1]!)), pid: process.pid, startedAt: Date.now() };

  let ending = false;
  const end = async (reason: EndingReason): Promise<void> => {
    if (ending) return;
    ending = true;
    const closed = new Promise((resolve) => listener.close(resolve));
    await Promise.all([rm(place.token, { force: true }), process.platform === 'win32' || rm(place.socket, { force: true })]);
    await server.close().catch((error: Error) => log.write('error', `ending: ${error.message}`));
    // Whoever asked for the end gets an answer first.
    await immediate();
    server.disconnect(reason);
    await journal.close().catch(() => undefined);
    log.write('info', `ended: ${reason}`);
    await Promise.race([closed, delay(GOODBYE_MS)]);
    process.exit(0);
  };
  const server = new RunnerServer({ token, welcome, log, journal, onEnd: (reason) => void end(reason) });
  const listener: Server = createServer((socket) => server.accept(socket));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end('stopped'));
  // A detached process has no terminal to lose, but may have been started where it had one.
  process.on('SIGHUP', () => undefined);
  await listen(listener, place);
  log.write('info', `engine ${welcome.version} (${welcome.build}), process ${process.pid}, Node ${process.version}`);
}

/** False if another runner answers there. Rejects if one that does not answer holds the place. */
async function takePlace({ folder, socket }: Place): Promise<boolean> {
  for (const deadline = performance.now() + LOCK_MS; !(await acquireLock(folder)); await delay(LOCK_POLL_MS)) {
    if (await answers(socket)) return false;
    if (performance.now() > deadline) throw new Error(`another engine holds ${folder} and does not answer`);
  }
  return true;
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function listen(listener: Server, { socket }: Place): Promise<void> {
  // What lies there is of a runner that is gone: this one holds the lock.
  if (process.platform !== 'win32') await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(socket, resolve);
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
