// What a suite left behind. All that it starts carries the path of its scratch folder: in the environment, on the command line, or, where a
// sandbox has hidden both, in what is mounted.
import { execPath } from 'node:process';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from './command.mjs';

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

/** Control groups of sandboxes whose owner, the process whose id their names begin with, is gone: those of others at work stay out of it. */
async function orphanedGroups() {
  const names = await readdir('/sys/fs/cgroup', { recursive: true }).catch(() => []);
  const owners = names.map((name) => [name, /(?:^|\/)rl-sandboxes\/(\d+)_[^/]*$/.exec(name)?.[1]]).filter(([, owner]) => owner);
  const orphaned = await Promise.all(owners.map(async ([name, owner]) => ((await read(`/proc/${owner}/cmdline`)) ? undefined : name)));
  return orphaned.filter((name) => name !== undefined);
}

/** How the engines that a suite has in its environment are asked: program and first arguments. */
const enginesOf = ({ DOCKER_HOST, CONTAINER_HOST } = {}) => [...(DOCKER_HOST ? [['docker', '--host', DOCKER_HOST]] : []), ...(CONTAINER_HOST ? [['podman', '--url', CONTAINER_HOST]] : [])];

const call = ([program, ...first], ...args) => run(program, [...first, ...args], { timeoutMs: 30_000 });

/** Containers of this project's sandboxes. */
async function containers(engines) {
  const listed = await Promise.all(
    engines.map(async (engine) => {
      const { output } = await call(engine, 'ps', '--all', '--filter', 'label=rl-sandboxes.id', '--format', '{{.Names}}');
      return output.split('\n').filter(Boolean).map((name) => ({ engine, name }));
    }),
  );
  return listed.flat();
}

const remove = async ({ pid, mount, container, engine }) => {
  if (pid !== undefined) signal(pid);
  if (mount !== undefined) await run('umount', ['--lazy', mount], { timeoutMs: 30_000, allowFailure: true });
  if (container !== undefined) await call(engine, 'rm', '--force', container).catch(() => undefined);
};

function signal(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Begins to watch over a scratch folder. The answer is what is left of the suite once it has had `patienceMs` to go, as lines for a
 * person; processes, mounts and containers among it are removed.
 * @param {string} scratch
 * @param {{ DOCKER_HOST?: string, CONTAINER_HOST?: string }} [env] says which engines the suite uses
 * @returns {Promise<(patienceMs?: number) => Promise<string[]>>}
 */
export async function watchLeftovers(scratch, env) {
  if (process.platform !== 'linux') return async () => [];
  const engines = enginesOf(env);
  const [groupsBefore, containersBefore] = await Promise.all([orphanedGroups(), containers(engines)]);
  const look = async () => {
    const [running, mounted, groups, left] = await Promise.all([processesUsing(scratch), mounts(scratch), orphanedGroups(), containers(engines)]);
    return [
      ...running.map(({ pid, command }) => ({ what: `process ${pid}: ${command}`, pid })),
      ...mounted.map((path) => ({ what: `mount ${path}`, mount: path })),
      ...groups.filter((name) => !groupsBefore.includes(name)).map((name) => ({ what: `control group ${name}` })),
      ...left.filter(({ name }) => !containersBefore.some((other) => other.name === name)).map(({ engine, name }) => ({ what: `container ${name}`, container: name, engine })),
    ];
  };
  return async (patienceMs = 5_000) => {
    // An empty control group that the kernel held busy is removed by the next one who looks, as in use: only what outlives that is left behind.
    if ((await orphanedGroups()).length) await run(execPath, ['dist/cli.mjs', 'doctor', '--root', scratch], { timeoutMs: 60_000, allowFailure: true });
    let left = await look();
    for (const deadline = Date.now() + patienceMs; left.length && Date.now() < deadline; left = await look()) await delay(200);
    await Promise.all(left.map(remove));
    return left.map(({ what }) => what);
  };
}
