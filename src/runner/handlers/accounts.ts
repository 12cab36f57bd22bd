/** Accounts at services: which the caller means, and whether one is good. */
import { checkProvider } from '../../engine/doctor.js';
import type { HandlersOf, Services } from './handlers.js';

export function accountHandlers(services: Services): HandlersOf<'account/use' | 'account/check'> {
  return {
    'account/use': ({ environment }, { session }) => {
      session.use(environment);
      return Promise.resolve(null);
    },
    'account/check': async ({ root, provider, environment }, call) => {
      const { session, signal } = call;
      if (environment) session.hide(environment);
      return checkProvider(await services.engine(root, call), provider, environment, signal);
    },
  };
}
