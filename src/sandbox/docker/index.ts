import type { Provider, ProviderContext } from '../provider.js';
import { DockerProvider } from './provider.js';

export const createProvider = (context: ProviderContext): Provider => new DockerProvider(context);
