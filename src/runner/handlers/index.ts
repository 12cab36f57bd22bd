import { buildHandlers } from './builds.js';
import type { Handlers, Services } from './handlers.js';
import { runHandlers } from './runs.js';
import { runnerHandlers } from './runner.js';
import { sandboxHandlers } from './sandboxes.js';
import { traceHandlers } from './traces.js';

/** One handler for each request, or this does not compile. */
export const allHandlers = (services: Services): Handlers => ({
  ...runnerHandlers(services),
  ...buildHandlers(services),
  ...runHandlers(services),
  ...sandboxHandlers(services),
  ...traceHandlers(services),
});
