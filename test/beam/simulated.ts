/** Beam's simulator. */
import type { Fault } from '../simulators/beam/faults.js';
import type { SimulatorState } from '../simulators/beam/simulator.js';
import { Simulated as AnySimulated } from '../simulators/simulated.js';

export type Simulated = AnySimulated<'BEAM_TOKEN' | 'BEAM_GATEWAY_URL', Fault, SimulatorState>;
export const Simulated = { start: (...flags: readonly string[]): Promise<Simulated> => AnySimulated.start('beam', flags) };

export const PLENTY = { RL_SANDBOXES_BEAM_CONCURRENT: '500', RL_SANDBOXES_BEAM_CREATIONS_PER_SECOND: '500' };
