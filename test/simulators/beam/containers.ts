/** Images, stubs and containers of a simulated account. They are real ones, of this machine: whatever image is named, it is the host's. */
import { createHash, randomUUID } from 'node:crypto';
import type { ProviderSnapshot, Sandbox } from '../../../src/sandbox/provider.js';
import { specOf, type Host } from '../host.js';
import { Processes } from './processes.js';

export interface StubBody {
  readonly name?: string;
  readonly image_id?: string;
  readonly cpu?: number;
  readonly memory?: number;
  readonly env?: readonly string[];
  readonly keep_warm_seconds?: number;
  readonly block_network?: boolean;
}

export interface Stub {
  readonly stubId: string;
  readonly createdAt: Date;
  readonly body: StubBody;
}

export interface Image {
  readonly imageId: string;
  /** Absent: the bare root. */
  readonly snapshot?: ProviderSnapshot;
}

/** What is made of one belongs to the stub of the container that it was taken of. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly stub: Stub;
  readonly snapshot: ProviderSnapshot;
}

export class Container {
  readonly containerId: string;
  readonly scheduledAt = new Date();
  readonly processes = new Processes(() => this.sandbox!);
  readonly ports = new Set<number>();
  sandbox?: Sandbox;
  /** Listed as running, and answers nothing. */
  zombie = false;
  private timer?: NodeJS.Timeout;

  constructor(
    readonly stub: Stub,
    /** Settles when it is there. */
    readonly ready: Promise<void>,
    private readonly onTimeout: () => void,
  ) {
    this.containerId = `sandbox-${stub.stubId}-${randomUUID().slice(0, 8)}`;
    this.setTtl(stub.body.keep_warm_seconds ?? 60);
  }

  get status(): 'PENDING' | 'RUNNING' {
    return this.sandbox ? 'RUNNING' : 'PENDING';
  }

  /** Seconds; none that is positive: for ever. */
  setTtl(seconds: number): void {
    this.stopClock();
    if (seconds > 0) this.timer = setTimeout(this.onTimeout, seconds * 1000);
  }

  stopClock(): void {
    clearTimeout(this.timer);
  }
}

export class Containers {
  readonly live = new Map<string, Container>();
  readonly stubs = new Map<string, Stub>();
  readonly images = new Map<string, Image>();
  readonly checkpoints = new Map<string, Checkpoint>();
  /** Stubs by what their maker calls them before they are made. */
  readonly prepared = new Map<string, string>();

  constructor(private readonly host: Host) {}

  /** What an image is called is a matter of what it is made of. */
  imageId(parts: unknown): string {
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
  }

  addStub(body: StubBody): Stub {
    const stub = { stubId: randomUUID(), createdAt: new Date(), body };
    this.stubs.set(stub.stubId, stub);
    return stub;
  }

  /** Runs the commands of an image one after the other. Rejects with what one of them said. */
  async build(imageId: string, commands: readonly string[], log: (text: string) => void): Promise<void> {
    if (commands.length === 0) return void this.images.set(imageId, { imageId });
    const sandbox = await this.host.provider.create(this.host.base, await specOf({}, {}, 'full'));
    try {
      for (const command of commands) {
        log(`=> ${command}\n`);
        const child = sandbox.exec(['/bin/sh', '-c', command]);
        const [{ code }, ...said] = await Promise.all([child.exit, child.stdout.toArray(), child.stderr.toArray()]);
        log(Buffer.concat(said.flat() as Buffer[]).toString());
        if (code !== 0) throw new Error(`command "${command}" failed with exit code ${code}`);
      }
      this.images.set(imageId, { imageId, snapshot: await sandbox.snapshot('filesystem') });
    } finally {
      await sandbox.terminate();
    }
  }

  /** `from`: something else than the stub's image. */
  create(stub: Stub, delay: Promise<void>, from?: Pick<Image, 'snapshot'>): Container {
    const { snapshot } = from ?? this.images.get(stub.body.image_id ?? '') ?? {};
    const making = async (): Promise<void> => {
      await delay;
      const { cpu, memory, env = [], block_network: blocked } = stub.body;
      const variables = Object.fromEntries(env.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]));
      const spec = await specOf(variables, { ...(cpu && { cpu: cpu / 1000 }), ...(memory && { memory: memory << 20 }) }, blocked ? 'none' : 'full');
      const sandbox = snapshot ? await this.host.provider.restore(snapshot, spec) : await this.host.provider.create(this.host.base, spec);
      // It may have been stopped since.
      if (this.live.has(container.containerId)) container.sandbox = sandbox;
      else await sandbox.terminate();
    };
    const container: Container = new Container(stub, Promise.resolve().then(making), () => void this.stop(container.containerId));
    container.ready.catch(() => this.live.delete(container.containerId));
    this.live.set(container.containerId, container);
    return container;
  }

  async stop(containerId: string): Promise<boolean> {
    const container = this.live.get(containerId);
    if (!container) return false;
    this.live.delete(containerId);
    container.stopClock();
    await container.ready.catch(() => undefined);
    await container.sandbox?.terminate();
    return true;
  }

  /** A sandbox that ends with it goes on as a copy. */
  async snapshot(container: Container, imageId: string): Promise<Image> {
    const snapshot = await container.sandbox!.snapshot('filesystem');
    if (this.host.baseEnds && !this.images.get(container.stub.body.image_id ?? '')?.snapshot) container.sandbox = await this.host.provider.restore(snapshot, await specOf({}, {}, container.stub.body.block_network ? 'none' : 'full'));
    const image = { imageId, snapshot };
    this.images.set(imageId, image);
    return image;
  }

  /** A copy of its memory, too. Rejects where the host has none. */
  async checkpoint({ stub, sandbox }: Container): Promise<Checkpoint> {
    const checkpoint = { checkpointId: randomUUID(), stub, snapshot: await sandbox!.snapshot('memory') };
    this.checkpoints.set(checkpoint.checkpointId, checkpoint);
    return checkpoint;
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.keys()].map((each) => this.stop(each)));
    await this.host.close();
  }
}
