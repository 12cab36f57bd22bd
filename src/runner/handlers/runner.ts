/** The runner itself. */
import type { HandlersOf, Services } from './handlers.js';

export function runnerHandlers(services: Services): HandlersOf<'shutdown'> {
  return {
    shutdown: async () => {
      await services.close();
      return null;
    },
  };
}
