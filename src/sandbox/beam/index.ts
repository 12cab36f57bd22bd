import type { Provider, ProviderContext } from '../provider.js';
import { BeamProvider } from './provider.js';

export const createProvider = (context: ProviderContext): Provider => new BeamProvider(context);
