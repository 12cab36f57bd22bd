// Gives the tests a Podman service: the one that answers already, or one of our own (Debian, root), with CRIU where that can be had. Run by itself
// it prints the `export CONTAINER_HOST=...` to use; with `--stop` it ends a service of our own.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailed, run } from '../lib/command.mjs';
import { findProgram } from '../lib/find.mjs';
import { withLock } from '../lib/lock.mjs';
import { canInstall, install } from './apt.mjs';
import { baseImageTar } from './baseImage.mjs';
import { cacheFolder } from './cache.mjs';
import { ensureCriu } from './criu.mjs';
import { answers, engineAt, launch, stopEngine } from './dockerEngine.mjs';

const IMAGE = 'debian:bookworm-slim';
const engine = engineAt(cacheFolder('podman'), 'podman');
/** Containers of an engine of ours have their folders apart from those of any other. */
const storageOf = ({ dataRoot, run }) => ['--root', dataRoot, '--runroot', join(run, 'storage'), '--cgroup-manager', 'cgroupfs'];
const STORAGE = storageOf(engine);
const CONFIGURATION = join(engine.run, 'containers.conf');

/**
 * @typedef {object} PodmanForTests
 * @property {string} [missing] why there can be no service, in one line; then `host` and `baseImage` are absent
 * @property {string} [host] as in CONTAINER_HOST
 * @property {string} [baseImage] a Debian image that is there
 * @property {string} [noCheckpoints] why processes cannot be checkpointed
 * @property {Record<string, string>} env what the tests find both by
 * @property {() => Promise<void>} stop ends a service that this call started, and no other
 */

/** @returns {Promise<PodmanForTests>} */
export function ensurePodman() {
  return withLock(cacheFolder('podman.lock'), async () => {
    try {
      return await (process.env.CONTAINER_HOST ? existing(process.env.CONTAINER_HOST) : ours());
    } catch (error) {
      return { missing: `no Podman service: ${oneLine(error)}`, env: {}, stop: nothing };
    }
  });
}

const nothing = async () => {};
const found = async (host, baseImage, stop) => ({ host, baseImage, noCheckpoints: await ensureCriu(), stop, env: { CONTAINER_HOST: host, RL_TEST_PODMAN_IMAGE: baseImage } });

/** On a service of someone else a made image must not bear the name of a real one. */
async function existing(host) {
  const podman = (...args) => run('podman', ['--url', host, ...args], { timeoutMs: 300_000 });
  await podman('version');
  return found(host, await baseImage(podman, `localhost/rl-sandboxes-test/${IMAGE}`), nothing);
}

async function ours() {
  if (process.platform !== 'linux') throw new Error('CONTAINER_HOST names none, and this script starts one on Linux only');
  if (process.getuid() !== 0) throw new Error('CONTAINER_HOST names none, and only root can start one');
  await installPodman();
  const running = await answers(engine.socket);
  await launch(engine, ['podman', ...STORAGE, 'system', 'service', '--time=0', engine.host], { env: environment, prepare: configure });
  try {
    return await found(engine.host, await baseImage(podman, `localhost/${IMAGE}`), running ? nothing : stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

const environment = { ...process.env, CONTAINERS_CONF: CONFIGURATION };
const podman = (...args) => run('podman', [...STORAGE, ...args], { env: environment, timeoutMs: 300_000 });

/**
 * Another service beside it, with images and containers of its own in a folder that is made.
 * @returns {Promise<import('./dockerEngine.d.mts').OwnEngine>}
 */
export async function podmanApart(dataRoot) {
  const apart = engineAt(dataRoot, 'podman');
  const configuration = join(apart.run, 'containers.conf');
  // With it the program would ask the service that it names.
  const { CONTAINER_HOST: _, ...withoutHost } = process.env;
  // What it locks in shared memory would be one with that of any other service.
  const prepare = () => writeFile(configuration, CONFIGURED.replace('[containers]', 'lock_type = "file"\n[containers]'));
  return launch(apart, ['podman', ...storageOf(apart), '--tmpdir', join(apart.run, 'libpod'), 'system', 'service', '--time=0', apart.host], { env: { ...withoutHost, CONTAINERS_CONF: configuration }, prepare });
}

/** runc, since crun refuses a hybrid of both versions of control groups. */
const CONFIGURED = '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n[containers]\ncgroupns = "private"\n';
const configure = () => writeFile(CONFIGURATION, CONFIGURED);

/** A container's processes outlive the service, and its supervisor too. */
async function stop() {
  if (await answers(engine.socket)) await podman('rm', '--all', '--force', '--time', '0').catch((error) => console.error(oneLine(error)));
  await stopEngine(engine);
}

async function installPodman() {
  const needed = [['podman', 'podman'], ['runc', 'runc'], ['debootstrap', 'debootstrap']];
  const missing = [];
  for (const [program, name] of needed) if (!(await findProgram(program))) missing.push(name);
  if (missing.length === 0) return;
  if (!(await canInstall())) throw new Error(`CONTAINER_HOST names none, and ${missing.join(', ')} cannot be installed here`);
  // The latter two make its networks, and are no more than recommended.
  if (missing.includes('podman')) missing.push('conmon', 'netavark', 'aardvark-dns');
  await install(...missing);
}

/** Name of a Debian image on that service: there already, or made and given the name `madeName`. */
async function baseImage(podman, madeName) {
  for (const name of [`docker.io/library/${IMAGE}`, madeName]) if (await podman('image', 'exists', name).then(() => true, () => false)) return name;
  await podman('import', '--change', 'CMD ["bash"]', await baseImageTar(), madeName);
  return madeName;
}

function oneLine(error) {
  const last = error instanceof CommandFailed ? error.output.trim().split('\n').at(-1) : '';
  return [error.message, last].filter(Boolean).join(': ').replaceAll(/\s+/g, ' ');
}

async function main() {
  if (process.argv.includes('--stop')) return stop();
  const { missing, host, baseImage: image, noCheckpoints } = await ensurePodman();
  if (missing) {
    console.error(missing);
    process.exitCode = 1;
  } else {
    console.log(`export CONTAINER_HOST=${host}`);
    console.error(`Base image: ${image}${noCheckpoints ? `; no memory snapshots: ${noCheckpoints}` : ''}`);
  }
}

// Not awaited: this module is also loaded where a module may not wait.
if (process.argv[1] === fileURLToPath(import.meta.url)) void main();
