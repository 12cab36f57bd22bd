import { join } from 'node:path';
import { surroundings } from '../docker/endpoint.js';
import { Engine } from '../docker/engine.js';
import { DockerProvider } from '../docker/provider.js';
import type { Provider, ProviderContext } from '../provider.js';
import { Checkpoints } from './checkpoints.js';
import { PODMAN } from './kind.js';
import { Seals } from './seal.js';

export function createProvider(context: ProviderContext): Provider {
  const around = surroundings(context.environment);
  const settings = join(around.env.XDG_CONFIG_HOME || join(around.home, '.config'), 'rl-sandboxes');
  return new DockerProvider(context, new Engine(around, PODMAN), new Checkpoints(join(context.stateDir, 'memory'), new Seals(settings)));
}
