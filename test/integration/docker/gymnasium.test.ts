import { ensureDocker } from '../../../scripts/setup/docker.mjs';
import { gymnasiumImage } from '../../../scripts/setup/gymnasium.mjs';
import { skip } from '../../support/skip.js';
import { gymnasium } from '../policies/gymnasium.js';
import { Place } from '../policies/place.js';

let stop: (() => Promise<void>) | undefined;

gymnasium('Gymnasium in Docker', async (suite) => {
  const docker = await ensureDocker();
  if (docker.host === undefined) skip(suite, docker.missing!);
  process.env.DOCKER_HOST = docker.host;
  stop = docker.stop;
  const { missing, found } = await gymnasiumImage(docker.host);
  if (missing !== undefined) skip(suite, missing);
  return Place.open('docker', `image: ${found}`);
});

after(() => stop?.());
