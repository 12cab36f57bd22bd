/** What the service, its SDK and the way to it say when something goes wrong, as the project's own errors. */
import { Refused, translator } from '../remote/failures.js';
import { HINT } from './account.js';

/** The vendor's errors by name: its classes are in a bundle that may not be loaded. */
const STATUS: Readonly<Record<string, number>> = { AuthenticationError: 401, RateLimitError: 429, ServiceBusyError: 503, SandboxNotFoundError: 404, NotFoundError: 404, NotEnoughSpaceError: 507 };

export function statusOf(error: unknown): number | undefined {
  if (error instanceof Refused) return error.status;
  const { name, statusCode } = (error ?? {}) as { name?: string; statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : STATUS[name ?? ''];
}

export const translate = translator({ title: 'E2B', keyHint: HINT, addressHint: 'check the network, and E2B_DOMAIN or E2B_API_URL if they are set', statusOf });
