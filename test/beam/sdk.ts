/** The vendor's SDK, pointed at a simulator. It knows one account for each process, so what it has kept of an earlier one is taken from it. */
import beam, { beamOpts } from '@beamcloud/beam-js';
import type { Simulated } from './simulated.js';

export function point(environment: Simulated['environment'], token = environment.BEAM_TOKEN): void {
  Object.assign(beamOpts, { token, gatewayUrl: environment.BEAM_GATEWAY_URL, workspaceId: 'simulated' });
  (beam as unknown as { _client?: unknown })._client = undefined;
}

/** It prints what it does, which is no part of a test's output. Gives what lets others print again. */
export function silence(): () => void {
  const { log, error, warn } = console;
  console.log = console.error = console.warn = () => undefined;
  return () => void Object.assign(console, { log, error, warn });
}
