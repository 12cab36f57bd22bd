// A root with a real Gymnasium, for the tests of the policy that drives one: a folder for bubblewrap, an image for Docker. Debian has the package.
import { basename } from 'node:path';
import { run } from '../lib/command.mjs';
import { findProgram } from '../lib/find.mjs';
import { withLock } from '../lib/lock.mjs';
import { canInstall, install } from './apt.mjs';
import { baseImageFolder, baseImageTar } from './baseImage.mjs';
import { cacheFolder } from './cache.mjs';

/**
 * @template T
 * @param {() => Promise<T>} make
 * @returns {Promise<{ missing: string, found?: undefined } | { missing?: undefined, found: T }>} what was made, or why it cannot be had
 */
function attempt(make) {
  return withLock(cacheFolder('gymnasium.lock'), async () => {
    try {
      if (process.platform !== 'linux' || process.getuid() !== 0) throw new Error('making one needs root on Linux');
      if (!(await findProgram('debootstrap'))) {
        if (!(await canInstall())) throw new Error('debootstrap is not installed');
        await install('debootstrap');
      }
      return { found: await make() };
    } catch (error) {
      return { missing: `no root with Gymnasium: ${error.message.replaceAll(/\s+/g, ' ')}` };
    }
  });
}

/** Path of a root folder. */
export const gymnasiumFolder = () => attempt(() => baseImageFolder('gymnasium'));

/** Name of an image on a Docker engine. */
export const gymnasiumImage = (host) =>
  attempt(async () => {
    const tar = await baseImageTar('gymnasium');
    const name = `rl-sandboxes-test/${basename(tar, '.tar')}`;
    const env = { ...process.env, DOCKER_HOST: host, DOCKER_CONTEXT: '' };
    const { code } = await run('docker', ['image', 'inspect', name], { env, timeoutMs: 20_000, allowFailure: true });
    if (code !== 0) await run('docker', ['import', tar, name], { env, timeoutMs: 300_000 });
    return name;
  });
