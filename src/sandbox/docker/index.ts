import type { Provider, ProviderContext } from '../provider.js';
import { surroundings } from './endpoint.js';
import { Engine } from './engine.js';
import { DockerProvider } from './provider.js';

export const createProvider = (context: ProviderContext): Provider => new DockerProvider(context, new Engine(surroundings(context.environment)));
