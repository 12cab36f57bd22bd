/** What the gateway says when something goes wrong, as the project's own errors. */
import { SandboxError, SandboxLost } from '../errors.js';
import { Refused, translator } from '../remote/failures.js';
import { HINT } from './account.js';

/** An answer with status 200 that says `ok: false`. */
export class NotOk extends Error {
  /** Nobody answers for the sandbox; the gateway does not say why. */
  get isGone(): boolean {
    return /failed to connect to sandbox|container not found/i.test(this.message);
  }
}

/** An answer that came, but not whole. */
export class Incomplete extends Error {}

const ofRequest = translator({
  title: 'Beam',
  keyHint: HINT,
  addressHint: 'check the network, and BEAM_GATEWAY_URL if it is set',
  statusOf: (error) => (error instanceof Refused ? error.status : undefined),
});

export function translate(error: unknown, doing: string): unknown {
  if (!(error instanceof NotOk)) return ofRequest(error, doing);
  return error.isGone ? new SandboxLost(`${doing} failed: the sandbox is gone`, { cause: error }) : new SandboxError(`${doing} failed: ${error.message}`, { cause: error });
}
