/**
 * A service that speaks E2B's protocol on the loopback interface and really executes: its sandboxes are bubblewrap's. The vendor's own SDK passes
 * `test/e2b/sdk.test.ts` against it, so what it answers is not only our reading of the protocol.
 */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createProvider } from '../../../src/sandbox/bubblewrap/index.js';
import { Control, type Quota } from './control.js';
import { Envd } from './envd.js';
import { Faults } from '../faults.js';
import type { Fault } from './faults.js';
import { Machines } from './machines.js';

export interface SimulatorOptions {
  /** Folder for the sandboxes' files. */
  readonly stateDir: string;
  readonly port?: number;
  readonly quota?: Partial<Quota>;
  /** Milliseconds that every request takes longer. */
  readonly latencyMs?: number;
}

/** What `GET /simulator` tells. */
export interface SimulatorState {
  readonly sandboxes: readonly { readonly sandboxID: string; readonly metadata: Readonly<Record<string, string>> }[];
  readonly templates: number;
  readonly struck: Partial<Record<Fault, number>>;
  /** Requests so far, by method and kind of path. */
  readonly requests: Readonly<Record<string, number>>;
}

export const API_KEY = `e2b_${'0'.repeat(40)}`;

export class Simulator {
  private readonly machines: Machines;
  private readonly server: Server;
  private readonly requests: Record<string, number> = {};
  private faults = new Faults<Fault>();
  private control!: Control;
  private envd!: Envd;

  private constructor(private readonly options: SimulatorOptions) {
    this.machines = new Machines(createProvider({ stateDir: options.stateDir, log: () => undefined }));
    this.setFaults({}, 1);
    this.server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://simulator');
      const control = request.headers['e2b-sandbox-id'] === undefined && !url.searchParams.has('signature');
      const kind = `${request.method} ${control ? url.pathname.replace(/[0-9a-f]{20}|[0-9a-f-]{36}/g, '*') : url.pathname}`;
      if (url.pathname === '/simulator') return void this.steer(request.method === 'PUT', url.searchParams, response);
      this.requests[kind] = (this.requests[kind] ?? 0) + 1;
      const handle = (): unknown => (control ? this.control.handle(request, response, url) : this.envd.handle(request, response, url));
      if (options.latencyMs) setTimeout(handle, options.latencyMs);
      else handle();
    });
    // Commands and uploads take as long as they take.
    this.server.requestTimeout = 0;
  }

  static async start(options: SimulatorOptions): Promise<Simulator> {
    const simulator = new Simulator(options);
    simulator.server.listen(options.port ?? 0, '127.0.0.1');
    await once(simulator.server, 'listening');
    return simulator;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The settings that point the vendor's SDK, and this project, at it. */
  get environment(): Record<string, string> {
    return { E2B_API_KEY: API_KEY, E2B_API_URL: this.url, E2B_SANDBOX_URL: this.url };
  }

  get state(): SimulatorState {
    const sandboxes = [...this.machines.live.values()].map(({ sandboxID, asked }) => ({ sandboxID, metadata: asked.metadata ?? {} }));
    return { sandboxes, templates: this.machines.templates.size, struck: this.faults.struck, requests: this.requests };
  }

  setFaults(probabilities: Partial<Record<Fault, number>>, seed: number): void {
    this.faults = new Faults(probabilities, seed);
    this.control = new Control(this.machines, this.faults, API_KEY, { concurrent: 1000, creationsPerSecond: 1000, ...this.options.quota });
    this.envd = new Envd(this.machines, this.faults);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.machines.close();
  }

  /** `PUT /simulator?seed=1&reset=0.05` sets the faults, `GET` tells the state. */
  private steer(set: boolean, query: URLSearchParams, response: { end: (text: string) => void }): void {
    if (set) {
      const { seed = '1', ...probabilities } = Object.fromEntries(query);
      this.setFaults(Object.fromEntries(Object.entries(probabilities).map(([fault, value]) => [fault, Number(value)])), Number(seed));
    }
    response.end(JSON.stringify(this.state));
  }
}
