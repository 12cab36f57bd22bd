import type { Provider, ProviderContext } from '../provider.js';
import { E2bProvider } from './provider.js';

export const createProvider = (context: ProviderContext): Provider => new E2bProvider(context);
