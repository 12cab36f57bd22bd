// A Docker engine of our own: dockerd with its own data, run folder and socket, beside whatever else the machine has.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../lib/command.mjs';

/** Where an engine with that data folder has its socket: under /run, since a socket's path may have 107 bytes at most. */
export function engineAt(dataRoot, name = 'docker') {
  const folder = `/run/rl-sandboxes-${createHash('sha256').update(dataRoot).digest('hex').slice(0, 8)}`;
  const socket = join(folder, `${name}.sock`);
  return { dataRoot, run: folder, socket, host: `unix://${socket}`, pidFile: join(folder, `${name}.pid`), log: join(dataRoot, `${name}.log`) };
}

/** Whether something accepts connections there. */
export function answers(socket, timeoutMs = 2000) {
  return new Promise((resolve) => {
    const connection = connect(socket);
    const end = (result) => {
      connection.destroy();
      resolve(result);
    };
    connection.setTimeout(timeoutMs, () => end(false));
    connection.on('connect', () => end(true));
    connection.on('error', () => end(false));
  });
}

/**
 * Starts dockerd detached from this process and waits until it answers; one that still runs from earlier is used as it is. `apart` gives it network
 * interfaces and mounts of its own, so that it does not touch those of an engine beside it. Throws with the tail of its log if it does not come up
 * within `timeoutMs`.
 */
export async function startEngine(dataRoot, { args = [], apart = false, timeoutMs = 60_000 } = {}) {
  const engine = engineAt(dataRoot);
  const dockerd = ['dockerd', '--data-root', dataRoot, '--exec-root', join(engine.run, 'exec'), '--pidfile', engine.pidFile, '--host', engine.host, '--experimental', ...args];
  return launch(engine, apart ? ['unshare', '--net', '--mount', ...dockerd] : dockerd, { timeoutMs });
}

/** Starts the program of an engine, which has its run folder on the command line, unless it answers already. */
export async function launch(engine, [program, ...args], { env = process.env, timeoutMs = 60_000, prepare = async () => {} } = {}) {
  const stop = () => stopEngine(engine);
  if (await answers(engine.socket)) return { ...engine, stop };
  // What an engine that was killed left running would hold its containers' mounts.
  await stopEngine(engine);
  await mkdir(engine.dataRoot, { recursive: true });
  await mkdir(engine.run, { recursive: true, mode: 0o700 });
  await prepare();
  const log = await open(engine.log, 'w');
  // Podman's supervisors leave a file named `oom` where the service was started.
  const child = spawn(program, args, { detached: true, env, cwd: engine.run, stdio: ['ignore', log.fd, log.fd] });
  let failure;
  child.on('error', (error) => (failure = error.message));
  child.on('exit', (code, signal) => (failure = `${program} ended with ${signal ?? `exit code ${code}`}`));
  child.unref();
  await log.close();
  const deadline = Date.now() + timeoutMs;
  while (!(await answers(engine.socket))) {
    if (!failure && Date.now() > deadline) failure = `${program} did not answer within ${timeoutMs / 1000} s`;
    if (failure) {
      const tail = (await readFile(engine.log, 'utf8').catch(() => '')).trim().split('\n').slice(-15).join('\n');
      await stopEngine(engine);
      throw new Error(`${failure}; the end of ${engine.log}:\n${tail}`);
    }
    await delay(100);
  }
  return { ...engine, stop };
}

/** Ends the engine, its containerd and what is left of its containers. */
export async function stopEngine(engine) {
  const pid = Number(await readFile(engine.pidFile, 'utf8').catch(() => ''));
  if (pid && (await commandLine(pid)).includes(engine.run)) {
    process.kill(pid, 'SIGTERM');
    const deadline = Date.now() + 20_000;
    while ((await commandLine(pid)).includes(engine.run) && Date.now() < deadline) await delay(50);
  }
  // An engine that was killed leaves the shims of its containers; each names the run folder in its command line.
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (/^\d+$/.test(entry) && (await commandLine(entry)).includes(`${engine.run}/`)) {
      try {
        process.kill(Number(entry), 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }
  for (const path of await mountsBelow(engine.dataRoot, engine.run)) await run('umount', ['--lazy', path], { allowFailure: true });
  await rm(engine.run, { recursive: true, force: true }).catch(() => undefined);
}

/** Mount points in or below folders, the innermost first. */
async function mountsBelow(...folders) {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const paths = lines.map((line) => line.split(' ')[4] ?? '').filter((path) => folders.some((folder) => `${path}/`.startsWith(`${folder}/`)));
  return paths.reverse();
}

const commandLine = (pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
