/** What the engine and its transport say when something goes wrong, as the project's own errors. */
import { LimitExceeded, ProviderUnavailable, SandboxError, SandboxLost, Unsupported } from '../errors.js';
import type { Health } from '../provider.js';
import { WrongContext } from './contexts.js';
import type { Endpoint } from './endpoint.js';
import { DOCKER, type EngineKind } from './kind.js';

/** An error as dockerode raises it. */
interface EngineError extends Error {
  statusCode?: number;
  json?: { message?: unknown };
  code?: string;
}

export const statusOf = (error: unknown): number | undefined => (error as EngineError | undefined)?.statusCode;

/** What the engine said, without what its client puts around it. */
export function reasonOf(error: unknown): string {
  const { json, message, statusCode } = error as EngineError;
  return (typeof json?.message === 'string' ? json.message : message.replace(/^\(HTTP code \d+\) .*? - /, '')).trim() || `HTTP status ${statusCode}`;
}

/** Error codes of a connection that cannot be made, or breaks. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES', 'EPERM', 'ENOTSOCK', 'ERR_STREAM_PREMATURE_CLOSE']);

const isUnreachable = (error: EngineError): boolean => error.statusCode === undefined && (UNREACHABLE.has(error.code ?? '') || error instanceof WrongContext || /socket hang up|certificate|SSL|TLS/.test(error.message));

/** As one of the project's errors. Those, and the reasons of aborted signals, stay as they are. */
export function translate(error: unknown, doing: string, endpoint: Endpoint | undefined, kind: EngineKind = DOCKER): unknown {
  if (error instanceof SandboxError || !(error instanceof Error)) return error;
  const failed = error as EngineError;
  if (isUnreachable(failed)) {
    const { summary, hint } = unreachable(failed, endpoint, kind);
    return new ProviderUnavailable(`${doing} failed: ${summary}`, hint, { cause: error });
  }
  if (failed.statusCode === undefined) return error;
  const reason = reasonOf(error);
  if (/no space left on device|disk quota exceeded/i.test(reason)) return new LimitExceeded(`${doing} failed: the ${kind.noun} has no disk space left (${reason})`, { cause: error });
  if (/could not select device driver|nvidia-container-cli|unresolvable CDI devices/i.test(reason))
    return new Unsupported(`${doing} failed: this ${kind.noun} cannot give GPUs to containers (${reason}); install the NVIDIA Container Toolkit or remove \`gpu\``, { cause: error });
  if ([404, 500].includes(failed.statusCode) && /no such container/i.test(reason)) return new SandboxLost(`${doing} failed: the sandbox is gone`, { cause: error });
  if (failed.statusCode === 409 && /is not running|marked for removal|is already in progress/i.test(reason)) return new SandboxLost(`${doing} failed: the sandbox has ended`, { cause: error });
  if (failed.statusCode === 400 && !/OCI runtime/.test(reason)) return new Unsupported(`${doing} failed: ${reason}`, { cause: error });
  return new SandboxError(`${doing} failed: ${reason}`, { cause: error });
}

/** Why an engine does not answer, and what can be done about it. */
export function unreachable(error: EngineError, endpoint: Endpoint | undefined, kind: EngineKind = DOCKER): { summary: string; hint: string; code: NonNullable<Health['code']> } {
  if (error instanceof WrongContext) return { summary: error.message, hint: kind.advice.choose, code: 'wrong-context' };
  const where = endpoint ? `${endpoint.url} (${endpoint.why})` : 'its socket';
  const chosen = endpoint !== undefined && kind.chosen.test(endpoint.why);
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
      return {
        summary: `the ${kind.noun} at ${where} may not be used by this user`,
        hint: kind.advice.permission,
        code: 'permission',
      };
    case 'ENOENT':
    case 'ECONNREFUSED':
    case 'ENOTSOCK': {
      if (endpoint?.transport.kind === 'ssh') return { summary: `no ${kind.noun} answers at ${where}: ${error.message}`, hint: `try \`ssh ${endpoint.transport.host} docker version\` in a terminal`, code: 'not-running' };
      return { summary: `no ${kind.noun} answers at ${where}`, hint: chosen ? `start that engine, or change ${endpoint.why}` : kind.advice.start, code: 'not-running' };
    }
    default:
      return { summary: `the ${kind.noun} at ${where} cannot be reached: ${error.message}`, hint: chosen ? `check ${endpoint.why} and the network` : kind.advice.start, code: /certificate|SSL|TLS/.test(error.message) ? 'error' : 'not-running' };
  }
}
