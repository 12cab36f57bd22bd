/** Sandboxes that live now, on every provider that answers. */
import type { HandlersOf, Services } from './handlers.js';

export function sandboxHandlers(services: Services): HandlersOf<'sandbox/list' | 'sandbox/terminate'> {
  return {
    'sandbox/list': async ({ root }, call) => (await services.engine(root, call)).sandboxes(),
    'sandbox/terminate': async ({ root, provider, id }, call) => {
      await (await (await services.engine(root, call)).providers.get(provider)).terminate(id);
      services.changed(root, 'sandboxes');
      return null;
    },
  };
}
