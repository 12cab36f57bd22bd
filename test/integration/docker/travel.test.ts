import { ensureDocker } from '../../../scripts/setup/docker.mjs';
import { skip } from '../../support/skip.js';
import { Place } from '../policies/place.js';
import { travel } from '../policies/travel.js';

let stop: (() => Promise<void>) | undefined;

travel('back to a step in Docker', async (suite) => {
  const docker = await ensureDocker();
  if (docker.host === undefined) skip(suite, docker.missing!);
  process.env.DOCKER_HOST = docker.host;
  stop = docker.stop;
  return Place.open('docker', `image: ${docker.baseImage}`);
});

after(() => stop?.());
