import type { Provider, ProviderContext } from '../provider.js';
import { BubblewrapProvider } from './provider.js';

export const createProvider = (context: ProviderContext): Provider => new BubblewrapProvider(context);
