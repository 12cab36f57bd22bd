// A lock between processes of one machine: a folder, which only one of them can make, with the holder's process id in it.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Whether the holder died without letting go. One that has not yet written its id is given 10 s. */
async function abandoned(folder) {
  const pid = await readFile(join(folder, 'pid'), 'utf8').then(Number, () => undefined);
  if (pid) return !alive(pid);
  const age = await stat(folder).then((entry) => Date.now() - entry.mtimeMs, () => 0);
  return age > 10_000;
}

/**
 * Runs `work` while no other process holds `folder`.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @param {number} timeoutMs how long to wait for the other
 * @returns {Promise<T>}
 */
export async function withLock(folder, work, timeoutMs = 900_000) {
  await mkdir(dirname(folder), { recursive: true });
  for (const deadline = Date.now() + timeoutMs; ; ) {
    try {
      await mkdir(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (await abandoned(folder)) await rm(folder, { recursive: true, force: true });
      else if (Date.now() > deadline) throw new Error(`${folder} is held by another process`, { cause: error });
      else await delay(500);
    }
  }
  try {
    await writeFile(join(folder, 'pid'), String(process.pid));
    return await work();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
