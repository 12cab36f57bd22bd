import { ensureDocker } from '../../../scripts/setup/docker.mjs';
import { skip } from '../../support/skip.js';
import { policies } from '../policies/policies.js';
import { Place } from '../policies/place.js';

let stop: (() => Promise<void>) | undefined;

policies('policies in Docker', async (suite) => {
  const docker = await ensureDocker();
  if (docker.host === undefined) skip(suite, docker.missing!);
  process.env.DOCKER_HOST = docker.host;
  stop = docker.stop;
  return Place.open('docker', `image: ${docker.baseImage}`);
});

after(() => stop?.());
