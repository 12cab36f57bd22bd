// What a suite left behind. All that it starts carries the path of its scratch folder: in the environment, on the command line, or, where a
// sandbox has hidden both, in what is mounted.
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const read = (file) => readFile(file, 'utf8').catch(() => '');

/**
 * Processes that have to do with a folder.
 * @param {string} scratch
 * @returns {Promise<{ pid: number, command: string }[]>}
 */
export async function processesUsing(scratch) {
  const own = await read('/proc/self/mountinfo');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [environment, command, mounts, status] = await Promise.all(['environ', 'cmdline', 'mountinfo', 'status'].map((file) => read(`/proc/${pid}/${file}`)));
      // A zombie of another parent is nothing that a suite could tidy up.
      if (/^State:\s+Z/m.test(status)) return undefined;
      const marked = environment.includes(scratch) || command.includes(scratch) || (mounts !== own && mounts.includes(scratch));
      return marked ? { pid: Number(pid), command: command.replaceAll('\0', ' ').trim().slice(0, 200) } : undefined;
    }),
  );
  return found.filter((entry) => entry !== undefined);
}

async function mounts(scratch) {
  const lines = (await read('/proc/self/mountinfo')).split('\n');
  return lines.filter((line) => line.includes(scratch)).map((line) => line.split(' ')[4]);
}

/** Control groups of this project's sandboxes. */
async function controlGroups() {
  const names = await readdir('/sys/fs/cgroup', { recursive: true }).catch(() => []);
  return names.filter((name) => /(^|\/)rl-sandboxes[^/]*\/[^/]+$/.test(name) && !/\.[a-z_.]+$/.test(name));
}

async function look(scratch, groupsBefore) {
  const [running, mounted, groups] = await Promise.all([processesUsing(scratch), mounts(scratch), controlGroups()]);
  return [
    ...running.map(({ pid, command }) => ({ what: `process ${pid}: ${command}`, pid })),
    ...mounted.map((path) => ({ what: `mount ${path}` })),
    ...groups.filter((name) => !groupsBefore.includes(name)).map((name) => ({ what: `control group ${name}` })),
  ];
}

/**
 * Begins to watch over a scratch folder. The answer is what is left of the suite once it has had `patienceMs` to go, as lines for a
 * person; processes among it are killed.
 * @param {string} scratch
 * @returns {Promise<(patienceMs?: number) => Promise<string[]>>}
 */
export async function watchLeftovers(scratch) {
  if (process.platform !== 'linux') return async () => [];
  const groupsBefore = await controlGroups();
  return async (patienceMs = 5_000) => {
    let left = await look(scratch, groupsBefore);
    for (const deadline = Date.now() + patienceMs; left.length && Date.now() < deadline; left = await look(scratch, groupsBefore)) await delay(200);
    for (const { pid } of left) {
      if (pid === undefined) continue;
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    }
    return left.map(({ what }) => what);
  };
}
