import { join } from 'node:path';
import { surroundings } from '../docker/endpoint.js';
import { Engine } from '../docker/engine.js';
import { DockerProvider } from '../docker/provider.js';
import type { Provider, ProviderContext } from '../provider.js';
import { Checkpoints } from './checkpoints.js';
import { PODMAN } from './kind.js';

export const createProvider = (context: ProviderContext): Provider => new DockerProvider(context, new Engine(surroundings(context.environment), PODMAN), new Checkpoints(join(context.stateDir, 'memory')));
