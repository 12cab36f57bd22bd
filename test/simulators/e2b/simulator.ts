/**
 * A service that speaks E2B's protocol on the loopback interface and really executes: its sandboxes are this machine's. The protocol is that of `src/facade/e2b`,
 * which the vendor's own SDK passes `test/e2b/sdk.test.ts` against, so what it answers is not only our reading of it; quotas, and faults in front of it, are the simulator's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Service, notThere } from '../../../src/facade/e2b/service.js';
import { Faults } from '../faults.js';
import type { Host } from '../host.js';
import { disturb, type Fault } from './faults.js';
import { Machines, type Quota } from './machines.js';

export interface SimulatorOptions {
  readonly host: Host;
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
  private readonly service: Service;
  private faults = new Faults<Fault>();

  private constructor(private readonly options: SimulatorOptions) {
    const quota = { concurrent: 1000, creationsPerSecond: 1000, ...options.quota };
    this.machines = new Machines(options.host, quota, () => this.faults);
    this.service = new Service(this.machines, { apiKey: API_KEY, domain: () => null });
    this.server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://simulator');
      const sandboxID = request.headers['e2b-sandbox-id']?.toString() ?? (url.searchParams.has('signature') ? '' : undefined);
      const kind = `${request.method} ${sandboxID === undefined ? url.pathname.replace(/i[0-9a-f]{19}|[0-9a-f]{20}|[0-9a-f-]{36}/g, '*') : url.pathname}`;
      if (url.pathname === '/simulator') return void this.steer(request.method === 'PUT', url.searchParams, response);
      this.requests[kind] = (this.requests[kind] ?? 0) + 1;
      const handle = (): void => this.handle(sandboxID, request, response, url.pathname);
      if (options.latencyMs) setTimeout(handle, options.latencyMs);
      else handle();
    });
    // Commands and uploads take as long as they take.
    this.server.requestTimeout = 0;
  }

  private handle(sandboxID: string | undefined, request: IncomingMessage, response: ServerResponse, path: string): void {
    const machine = this.machines.live.get(sandboxID ?? '');
    if (machine && path !== '/health' && this.faults.strikes('vanish')) void this.machines.kill(machine);
    // The proxy in front of the sandboxes says that nobody is there.
    if (machine?.zombie || (sandboxID && !this.machines.live.has(sandboxID))) return notThere(response, sandboxID!);
    if (path !== '/health' && disturb(this.faults, sandboxID === undefined, request, response, path)) return;
    this.service.handle(request, response);
  }

  static readonly start = async (options: SimulatorOptions): Promise<Simulator> => {
    const simulator = new Simulator(options);
    simulator.server.listen(options.port ?? 0, '127.0.0.1');
    await once(simulator.server, 'listening');
    return simulator;
  };

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
