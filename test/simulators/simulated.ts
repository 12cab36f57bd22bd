/** A simulator in a process of its own, so that neither its memory nor its load counts for who is tested. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

export class Simulated<Setting extends string, Fault extends string, State> {
  private constructor(
    /** Settings that point the vendor's SDK and the provider at it. */
    readonly environment: Readonly<Record<Setting, string>>,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start<Setting extends string, Fault extends string, State>(vendor: string, flags: readonly string[]): Promise<Simulated<Setting, Fault, State>> {
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, vendor, '--json', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const line = await Promise.race([once(createInterface(child.stdout), 'line').then(([text]) => String(text)), exited.then(() => Promise.reject(new Error('the simulator did not start')))]);
    return new Simulated<Setting, Fault, State>(JSON.parse(line) as Record<Setting, string>, async () => {
      child.stdin.end();
      await exited;
    });
  }

  state(): Promise<State> {
    return this.ask('GET');
  }

  /** From now on these strike with their probabilities, and no others. */
  faults(probabilities: Partial<Record<Fault, number>>, seed = 1): Promise<State> {
    return this.ask('PUT', new URLSearchParams([['seed', String(seed)], ...Object.entries(probabilities).map(([fault, value]) => [fault, String(value)] as [string, string])]));
  }

  close(): Promise<void> {
    return this.stop();
  }

  private async ask(method: string, query = new URLSearchParams()): Promise<State> {
    const url = Object.values<string>(this.environment).find((value) => value.startsWith('http'));
    const response = await fetch(`${url}/simulator?${query}`, { method });
    return (await response.json()) as State;
  }
}
