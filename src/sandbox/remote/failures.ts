/** What a service and the way to it say when something goes wrong, as the project's own errors. */
import { LimitExceeded, ProviderUnavailable, SandboxError, SandboxLost, Unsupported } from '../errors.js';

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

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT']);

/** The code of a failed connection, wherever the client has put it. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at) if (typeof at.code === 'string') return at.code;
  return undefined;
}

export interface Vendor {
  readonly title: string;
  /** What to do without a key that is good. */
  readonly keyHint: string;
  /** What to do when nobody answers. */
  readonly addressHint: string;
  /** HTTP status of an error, also one of the vendor's SDK. */
  readonly statusOf: (error: unknown) => number | undefined;
}

/** As one of the project's errors. Those, and the reasons of aborted signals, stay as they are. */
export const translator =
  ({ title, keyHint, addressHint, statusOf }: Vendor) =>
  (error: unknown, doing: string): unknown => {
    if (error instanceof SandboxError || !(error instanceof Error)) return error;
    const failed = (message: string): string => `${doing} failed: ${message}`;
    const status = statusOf(error);
    const said = error.message || `HTTP status ${status}`;
    if (status === 401 || status === 403) return new ProviderUnavailable(failed(`${title} refuses the API key`), keyHint, { cause: error, problem: 'wrong-key' });
    if (status === 429) return new LimitExceeded(failed(said), { cause: error });
    if (status === 507) return new LimitExceeded(failed('the disk of the sandbox is full'), { cause: error });
    if (status === 404 || status === 502) return new SandboxLost(failed('the sandbox is gone'), { cause: error });
    if (status === 400) return new Unsupported(failed(said), { cause: error });
    const code = codeOf(error);
    if (code !== undefined && UNREACHABLE.has(code)) return new ProviderUnavailable(failed(`${title} cannot be reached (${code})`), addressHint, { cause: error, problem: 'no-network' });
    return new SandboxError(failed(said), { cause: error });
  };
