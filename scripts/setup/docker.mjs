// Gives the tests a Docker engine: the one that answers already, or one of our own (Debian, root). Run by itself it prints the
// `export DOCKER_HOST=...` to use; with `--stop` it ends an engine of our own.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CommandFailed, run } from '../lib/command.mjs';
import { findProgram } from '../lib/find.mjs';
import { withLock } from '../lib/lock.mjs';
import { canInstall, install } from './apt.mjs';
import { baseImageTar } from './baseImage.mjs';
import { cacheFolder } from './cache.mjs';
import { engineAt, startEngine, stopEngine } from './dockerEngine.mjs';
import { gvisorArguments } from './gvisor.mjs';

const DEFAULT_IMAGE = 'debian:bookworm-slim';
const dataRoot = cacheFolder('docker');

/**
 * @typedef {object} DockerForTests
 * @property {string} [missing] why there can be no engine, in one line; then `host` and `baseImage` are absent
 * @property {string} [host] as in DOCKER_HOST
 * @property {string} [baseImage] a Debian image that is on the engine
 * @property {Record<string, string>} env what the tests find both by
 * @property {() => Promise<void>} stop ends an engine that this call started, and no other
 */

/** @returns {Promise<DockerForTests>} */
export function ensureDocker() {
  return withLock(cacheFolder('docker.lock'), async () => {
    try {
      return (await existing()) ?? (await ours());
    } catch (error) {
      return { missing: `no Docker engine: ${oneLine(error)}`, env: {}, stop: nothing };
    }
  });
}

const nothing = async () => {};
const found = (host, baseImage, stop) => ({ host, baseImage, stop, env: { DOCKER_HOST: host, RL_TEST_DOCKER_IMAGE: baseImage } });

/** The engine that Docker's own command line talks to, if it answers. */
async function existing() {
  if (!(await version())) return undefined;
  const host = process.env.DOCKER_HOST || (await docker(undefined, ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']));
  // On an engine of someone else a made image must not bear the name of a real one.
  return found(host, await baseImage(host, `rl-sandboxes-test/${DEFAULT_IMAGE}`), nothing);
}

async function ours() {
  if (process.platform !== 'linux') throw new Error('none answers, and this script starts one on Linux only');
  if (process.getuid() !== 0) throw new Error('none answers, and only root can start one');
  await installEngine();
  const running = await version(engineAt(dataRoot).host);
  const args = running ? [] : await gvisorArguments(cacheFolder('docker.json'));
  const engine = await startEngine(dataRoot, { args });
  const stop = running ? nothing : engine.stop;
  try {
    return found(engine.host, await baseImage(engine.host, DEFAULT_IMAGE), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function installEngine() {
  const needed = [['dockerd', 'docker.io'], ['iptables', 'iptables'], ['debootstrap', 'debootstrap']];
  // Debian 13 has the client in a package of its own.
  if (debianVersion() >= 13) needed.push(['docker', 'docker-cli']);
  const missing = [];
  for (const [program, name] of needed) if (!(await findProgram(program))) missing.push(name);
  if (missing.length === 0) return;
  if (!(await canInstall())) throw new Error(`none answers, and ${missing.join(', ')} cannot be installed here`);
  await install(...missing);
}

const debianVersion = () => Number(/^VERSION_ID="?(\d+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 0);

/** Name of a Debian image on that engine: there already, pulled, or made and given the name `madeName`. */
async function baseImage(host, madeName) {
  for (const name of [DEFAULT_IMAGE, madeName]) if (await succeeds(host, ['image', 'inspect', name])) return name;
  if (await succeeds(host, ['pull', '--quiet', DEFAULT_IMAGE], 180_000)) return DEFAULT_IMAGE;
  const tar = await baseImageTar();
  await docker(host, ['import', '--change', 'CMD ["bash"]', tar, madeName], 300_000);
  return madeName;
}

async function docker(host, args, timeoutMs = 20_000) {
  const env = host ? { ...process.env, DOCKER_HOST: host, DOCKER_CONTEXT: '' } : process.env;
  return (await run('docker', args, { timeoutMs, env })).output.trim();
}

const succeeds = (host, args, timeoutMs) => docker(host, args, timeoutMs).then(() => true, () => false);

/** Version of an engine; undefined if it does not answer. */
const version = (host) => docker(host, ['version', '--format', '{{.Server.Version}}']).catch(() => undefined);

function oneLine(error) {
  const last = error instanceof CommandFailed ? error.output.trim().split('\n').at(-1) : '';
  return [error.message, last].filter(Boolean).join(': ').replaceAll(/\s+/g, ' ');
}

async function main() {
  if (process.argv.includes('--stop')) return stopEngine(engineAt(dataRoot));
  const { missing, host, baseImage: image } = await ensureDocker();
  if (missing) {
    console.error(missing);
    process.exitCode = 1;
  } else {
    console.log(`export DOCKER_HOST=${host}`);
    console.error(`Base image: ${image}`);
  }
}

// Not awaited: this module is also loaded where a module may not wait.
if (process.argv[1] === fileURLToPath(import.meta.url)) void main();
