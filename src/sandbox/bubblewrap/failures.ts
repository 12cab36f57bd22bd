/** What went wrong when a sandbox did not start, from what the programs on the way said. */
import { LimitExceeded, ProviderUnavailable, SandboxError } from '../errors.js';
import { namespaceHint } from './host.js';

export async function startFailure(said: string): Promise<SandboxError> {
  const line = said.trim().split('\n').at(-1) || 'it ended at once';
  const message = `the sandbox could not be started: ${line}`;
  if (/No space left|Cannot allocate memory|Resource temporarily unavailable|Too many open files|quota exceeded|Cannot fork/i.test(said)) return new LimitExceeded(message);
  if (/unshare|namespace|uid map|Operation not permitted/i.test(said)) return new ProviderUnavailable(message, await namespaceHint());
  return new SandboxError(message);
}
