/** E2B's simulator. */
import type { Fault } from '../simulators/e2b/faults.js';
import type { SimulatorState } from '../simulators/e2b/simulator.js';
import { Simulated as AnySimulated } from '../simulators/simulated.js';

type Setting = 'E2B_API_KEY' | 'E2B_API_URL' | 'E2B_SANDBOX_URL';
export type Simulated = AnySimulated<Setting, Fault, SimulatorState>;
export const Simulated = { start: (...flags: readonly string[]): Promise<Simulated> => AnySimulated.start('e2b', flags) };
