/** What the service, its SDK and the way to it say when something goes wrong, as the project's own errors. */
import { LimitExceeded, ProviderUnavailable, SandboxError, SandboxLost, Unsupported } from '../errors.js';
import { HINT } from './account.js';

/** An answer that is no success, with what it said. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The vendor's errors by name: its classes are in a bundle that may not be loaded. */
const STATUS: Readonly<Record<string, number>> = { AuthenticationError: 401, RateLimitError: 429, ServiceBusyError: 503, SandboxNotFoundError: 404, NotFoundError: 404, NotEnoughSpaceError: 507 };

export function statusOf(error: unknown): number | undefined {
  if (error instanceof Refused) return error.status;
  const { name, statusCode } = (error ?? {}) as { name?: string; statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : STATUS[name ?? ''];
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT']);

/** The code of a failed connection, wherever the client has put it. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at) if (typeof at.code === 'string') return at.code;
  return undefined;
}

/** As one of the project's errors. Those, and the reasons of aborted signals, stay as they are. */
export function translate(error: unknown, doing: string): unknown {
  if (error instanceof SandboxError || !(error instanceof Error)) return error;
  const failed = (message: string): string => `${doing} failed: ${message}`;
  const status = statusOf(error);
  const said = error.message || `HTTP status ${status}`;
  if (status === 401 || status === 403) return new ProviderUnavailable(failed('E2B refuses the API key'), HINT, { cause: error });
  if (status === 429) return new LimitExceeded(failed(said), { cause: error });
  if (status === 507) return new LimitExceeded(failed('the disk of the sandbox is full'), { cause: error });
  if (status === 404 || status === 502) return new SandboxLost(failed('the sandbox is gone'), { cause: error });
  if (status === 400) return new Unsupported(failed(said), { cause: error });
  const code = codeOf(error);
  if (code !== undefined && UNREACHABLE.has(code)) return new ProviderUnavailable(failed(`E2B cannot be reached (${code})`), 'check the network, and E2B_DOMAIN or E2B_API_URL if they are set', { cause: error });
  return new SandboxError(failed(said), { cause: error });
}
