/**
 * A service that speaks the protocol of Beam's gateway on the loopback interface and really executes: its sandboxes are this machine's. The vendor's own SDK
 * passes `test/beam/sdk.test.ts` against it, so what it answers is not only our reading of the protocol.
 */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Faults } from '../faults.js';
import type { Host } from '../host.js';
import { Containers } from './containers.js';
import type { Fault } from './faults.js';
import { Gateway, type Quota } from './gateway.js';

export interface SimulatorOptions {
  readonly host: Host;
  readonly port?: number;
  readonly quota?: Partial<Quota>;
  /** Milliseconds that every request takes longer. */
  readonly latencyMs?: number;
}

/** What `GET /simulator` tells. */
export interface SimulatorState {
  readonly sandboxes: readonly { readonly containerId: string; readonly name: string }[];
  readonly images: number;
  readonly struck: Partial<Record<Fault, number>>;
  /** Requests so far, by method and kind of path. */
  readonly requests: Readonly<Record<string, number>>;
}

export const TOKEN = `simulated-${'0'.repeat(40)}`;

export class Simulator {
  private readonly containers: Containers;
  private readonly server: Server;
  private readonly requests: Record<string, number> = {};
  private faults = new Faults<Fault>();
  private gateway!: Gateway;

  private constructor(private readonly options: SimulatorOptions) {
    this.containers = new Containers(options.host);
    this.setFaults({}, 1);
    this.server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://simulator');
      if (url.pathname === '/simulator') return void this.steer(request.method === 'PUT', url.searchParams, response);
      const kind = `${request.method} ${url.pathname.replace(/^\/api\/v1\/gateway/, '').replace(/sandbox-[0-9a-f-]+/, '*').replace(/^(\/api\/v1\/stub)\/.*/, '$1/*').replace(/(download|files|directories)\/.*/, '$1')}`;
      this.requests[kind] = (this.requests[kind] ?? 0) + 1;
      const handle = (): unknown => this.gateway.handle(request, response, url);
      if (options.latencyMs) setTimeout(handle, options.latencyMs);
      else handle();
    });
    this.server.requestTimeout = 0;
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

  /** The settings that point this project at it. */
  get environment(): Record<string, string> {
    return { BEAM_TOKEN: TOKEN, BEAM_GATEWAY_URL: this.url };
  }

  get state(): SimulatorState {
    const sandboxes = [...this.containers.live.values()].map(({ containerId, stub }) => ({ containerId, name: stub.body.name ?? '' }));
    return { sandboxes, images: this.containers.images.size, struck: this.faults.struck, requests: this.requests };
  }

  setFaults(probabilities: Partial<Record<Fault, number>>, seed: number): void {
    this.faults = new Faults(probabilities, seed);
    this.gateway = new Gateway(this.containers, this.faults, TOKEN, () => this.url, { concurrent: 1000, creationsPerSecond: 1000, ...this.options.quota });
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.containers.close();
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
