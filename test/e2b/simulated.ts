/** A simulator in a process of its own, so that neither its memory nor its load counts for who is tested. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Fault } from '../simulators/e2b/faults.js';
import type { SimulatorState } from '../simulators/e2b/simulator.js';

const MAIN = fileURLToPath(new URL('../simulators/main.ts', import.meta.url));

export class Simulated {
  private constructor(
    /** Settings that point the SDK and the provider at it. */
    readonly environment: Readonly<Record<'E2B_API_KEY' | 'E2B_API_URL' | 'E2B_SANDBOX_URL', string>>,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start(...flags: readonly string[]): Promise<Simulated> {
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'e2b', '--json', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const line = await Promise.race([once(createInterface(child.stdout), 'line').then(([text]) => String(text)), exited.then(() => Promise.reject(new Error('the simulator did not start')))]);
    return new Simulated(JSON.parse(line) as Simulated['environment'], async () => {
      child.stdin.end();
      await exited;
    });
  }

  state(): Promise<SimulatorState> {
    return this.ask('GET');
  }

  /** From now on these strike with their probabilities, and no others. */
  faults(probabilities: Partial<Record<Fault, number>>, seed = 1): Promise<SimulatorState> {
    return this.ask('PUT', new URLSearchParams([['seed', String(seed)], ...Object.entries(probabilities).map(([fault, value]) => [fault, String(value)] as [string, string])]));
  }

  close(): Promise<void> {
    return this.stop();
  }

  private async ask(method: string, query = new URLSearchParams()): Promise<SimulatorState> {
    const response = await fetch(`${this.environment.E2B_API_URL}/simulator?${query}`, { method });
    return (await response.json()) as SimulatorState;
  }
}
