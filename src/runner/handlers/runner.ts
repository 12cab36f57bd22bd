/** The runner itself: who looks at what, how it is, how it ends. */
import type { HandlersOf, Services } from './handlers.js';

export function runnerHandlers(services: Services): HandlersOf<'look' | 'runner/status' | 'runner/retire' | 'shutdown'> {
  return {
    look: async ({ roots }, { session }) => {
      session.look(roots);
      services.look(session);
      return { interrupted: await services.takeInterrupted(roots.map(({ root }) => root)) };
    },
    'runner/status': () => services.status(),
    'runner/retire': () => Promise.resolve(services.retire()),
    shutdown: async () => {
      await services.shutdown();
      return null;
    },
  };
}
