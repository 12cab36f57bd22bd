import { accountHandlers } from './accounts.js';
import { buildHandlers } from './builds.js';
import type { Handlers, Services } from './handlers.js';
import { runHandlers } from './runs.js';
import { runnerHandlers } from './runner.js';
import { Outflows } from '../streams.js';
import { fileHandlers } from './files.js';
import { sandboxHandlers } from './sandboxes.js';
import { snapshotHandlers } from './snapshots.js';
import { terminalHandlers } from './terminals.js';
import { traceHandlers } from './traces.js';

/** One handler for each request, or this does not compile. */
export const allHandlers = (services: Services, streams = new Outflows()): Handlers => ({
  ...runnerHandlers(services),
  ...accountHandlers(services),
  ...buildHandlers(services),
  ...runHandlers(services),
  ...sandboxHandlers(services, streams),
  ...terminalHandlers(services, streams),
  ...fileHandlers(services),
  ...snapshotHandlers(services),
  ...traceHandlers(services),
});
