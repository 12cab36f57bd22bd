/** Sandboxes of E2B, or of a service that speaks its protocol. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { unhealthy } from '../account.js';
import { within } from '../deadline.js';
import { BuildFailed, Unsupported } from '../errors.js';
import { currentOwner } from '../owner.js';
import type { BaseImage, BuildOptions, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, RestoreOptions, Sandbox, SandboxInfo, SandboxSpec, SnapshotKind, SnapshotSizes, Waits } from '../provider.js';
import { Creation } from '../remote/creation.js';
import { Intents } from '../remote/intents.js';
import { Layers, readRef, type Layer } from '../remote/layers.js';
import type { CreationLimiter } from '../remote/limiter.js';
import { RemoteSandbox } from '../remote/sandbox.js';
import { ask } from '../remote/wire.js';
import { accountOf, limiterOf, type Account } from './account.js';
import { e2bCapabilities } from './capabilities.js';
import { Control, DEFAULT_MEMORY_MB, DEFAULT_TEMPLATE } from './control.js';
import { Envd, type Reach } from './envd.js';
import { statusOf, translate } from './failures.js';
import { metadataOf, sandboxInfo } from './labels.js';

const UNHEALTHY = {
  quota: 'end sandboxes that are not needed, wait, or take a larger plan (https://e2b.dev/dashboard?tab=billing)',
  network: 'check the network, and E2B_DOMAIN or E2B_API_URL if they are set',
  otherwise: 'look at status.e2b.dev, or try again',
} as const;

const CHECK_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;
const BUILD_TIMEOUT_MS = 1_800_000;
const ANSWER_MS = 60_000;
const DAEMON_PORT = 49983;

/** What belongs to an account; made when it is first needed, since there may be none. */
interface Service {
  readonly account: Account;
  readonly control: Control;
  readonly limiter: CreationLimiter;
  readonly creation: Creation;
  readonly sweep: (id: string, signal: AbortSignal) => Promise<boolean>;
}

/** What a sandbox is made from. */
interface Origin {
  readonly template: string;
  readonly memoryMB: number;
  readonly below: readonly Layer[];
  /** These two of a snapshot. */
  readonly mark?: string;
  readonly kind?: SnapshotKind;
}

/** What the service answers to a creation. */
interface Answer {
  readonly sandboxID: string;
  readonly envdAccessToken?: string | null;
  readonly domain?: string | null;
}

export class E2bProvider implements Provider {
  readonly id = 'e2b';
  readonly title = 'E2B';
  readonly capabilities = e2bCapabilities;
  private readonly live = new Map<string, RemoteSandbox>();
  private readonly creating = new Set<string>();
  private readonly intents: Intents;
  private readonly layers: Layers;
  private opened: Service | undefined;

  constructor(private readonly context: ProviderContext) {
    this.intents = new Intents(join(context.stateDir, 'creating'));
    this.layers = new Layers(join(context.stateDir, 'snapshots'));
  }

  /** One question, which costs nothing. */
  async check(options?: OperationOptions): Promise<Health> {
    try {
      options?.signal?.throwIfAborted();
      const { control, account, limiter } = this.service();
      const own = await within('Asking E2B', options, CHECK_TIMEOUT_MS, (signal) => control.probe(signal));
      return {
        ok: true,
        summary: `E2B at ${account.apiUrl}, sandboxes of ours there: ${own.length}`,
        limits: { cpu: 'none', memory: 'rlimit', pids: 'none', disk: 'none' },
        account: { service: account.apiUrl, live: own.length, concurrent: limiter.allowance.concurrent, creationsPerSecond: limiter.allowance.perSecond },
        details: {
          'processors and memory': 'those of the virtual machine, whose size is that of `resources` when its image is first used',
          'longest life of a sandbox': `${this.capabilities.maxSessionSeconds! / 3600} h`,
          tested: 'against a simulator that the vendor\'s own SDK validates, not the live service; `npm run test:live -- e2b` does that with your key',
        },
      };
    } catch (error) {
      options?.signal?.throwIfAborted();
      return unhealthy(error, UNHEALTHY);
    }
  }

  /** The service does not say what content an image's name stands for, so the name is all that counts. */
  resolve(base: BaseImage, options?: BuildOptions): Promise<string> {
    options?.signal?.throwIfAborted();
    return Promise.resolve(`e2b:${imageOf(base) ?? DEFAULT_TEMPLATE}`);
  }

  async create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox> {
    const image = imageOf(base);
    const { control } = this.service();
    const encoder = new TextEncoder();
    const machine = await within('Building the template', options, BUILD_TIMEOUT_MS, (signal) => control.machine(image, spec.resources, signal, (line) => options?.onOutput?.(encoder.encode(line))));
    return this.open({ template: machine.template, memoryMB: machine.memoryMB, below: [] }, spec, options);
  }

  async restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: RestoreOptions): Promise<Sandbox> {
    const { snapshotId, mark, memoryMB } = readRef(snapshot.ref);
    return this.open({ template: snapshotId, memoryMB: memoryMB ?? DEFAULT_MEMORY_MB, below: await this.layers.of(snapshotId), mark, kind: snapshot.kind }, spec, options);
  }

  async list(options?: OperationOptions): Promise<SandboxInfo[]> {
    const { control } = this.service();
    return within('Listing sandboxes', options, QUERY_TIMEOUT_MS, async (signal) => {
      const listed = (await Promise.all((await control.list(signal)).map((each) => sandboxInfo(each)))).filter((each) => each !== undefined);
      const known = new Set(listed.map(({ id }) => id));
      const own = await currentOwner();
      const coming: SandboxInfo[] = [];
      for (const { id, labels, at } of await this.intents.all()) {
        // Of our own that are not being created any more, those that came to be are listed, and the others are being looked for.
        if (!known.has(id) && (labels.owner !== own || this.creating.has(id))) coming.push({ id, provider: this.id, labels, createdAt: at, state: 'starting' });
      }
      return [...listed, ...coming];
    });
  }

  async terminate(id: string, options?: OperationOptions): Promise<void> {
    const own = this.live.get(id);
    if (own) return own.terminate(options);
    const { sweep } = this.service();
    await within('Ending the sandbox', options, QUERY_TIMEOUT_MS, async (signal) => {
      if (await sweep(id, signal)) await this.intents.settle(id);
      else await this.intents.expire(id);
    });
  }

  async hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    if (snapshot.provider !== this.id) return false;
    const { control } = this.service();
    return within('Looking for the snapshot', options, QUERY_TIMEOUT_MS, (signal) => control.hasSnapshot(readRef(snapshot.ref).snapshotId, signal));
  }

  async removeSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<void> {
    const { snapshotId } = readRef(snapshot.ref);
    const { control } = this.service();
    return within('Removing the snapshot', options, QUERY_TIMEOUT_MS, async (signal) => {
      await control.removeSnapshot(snapshotId, signal);
      await this.layers.remove(snapshotId);
    });
  }

  sizes(snapshots: readonly ProviderSnapshot[]): Promise<SnapshotSizes> {
    return this.layers.sizes(snapshots);
  }

  exportSnapshot(): Promise<Readable> {
    return Promise.reject(new Unsupported('a snapshot cannot be taken out of E2B: build the template there, where it is to be used'));
  }

  importSnapshot(data: Readable): Promise<ProviderSnapshot> {
    data.destroy();
    return Promise.reject(new Unsupported('a snapshot cannot be taken into E2B: build the template there'));
  }

  waits(): Waits | undefined {
    return this.opened?.limiter.waits();
  }

  async close(): Promise<void> {
    await this.opened?.creation.close();
  }

  private async open(origin: Origin, spec: SandboxSpec, options: RestoreOptions | undefined): Promise<RemoteSandbox> {
    refuse(spec);
    const { template, memoryMB, below, mark, kind } = origin;
    const { account, control, creation } = this.service();
    const id = randomBytes(8).toString('hex');
    this.creating.add(id);
    const { answer: reach, place } = await creation.create(id, spec.labels, (signal) => this.ask(account, id, template, spec, signal), options?.signal).finally(() => this.creating.delete(id)).catch((error: unknown) => {
      if (statusOf((error as Error).cause) === 404) throw new BuildFailed(mark === undefined ? `E2B has no template ${template}` : 'the snapshot is no longer at E2B: build the template again', '', { cause: error });
      throw error;
    });
    // From here on it is billed: before, it may have waited for a place.
    const info: SandboxInfo = { id, provider: this.id, labels: spec.labels, createdAt: Date.now(), state: 'running' };
    const twin = async (signal: AbortSignal): Promise<RemoteSandbox> => this.open({ ...origin, kind: 'filesystem' }, spec, { signal });
    const endpoint = new Envd(reach);
    const sandbox = new RemoteSandbox({
      title: this.title,
      layers: this.layers,
      place,
      copy: (signal) => control.snapshot(reach.sandboxId, signal),
      copiesMemory: true,
      sleep: {
        begin: (signal) => control.pause(reach.sandboxId, signal),
        end: async (lifetimeMs, signal) => void (endpoint.reach = await this.wake(account, reach.sandboxId, lifetimeMs, signal)),
      },
      end: (signal) => control.kill(reach.sandboxId, signal),
      copied: mark !== undefined,
      ...{ endpoint, info, spec, memoryMB, mark, below, kind, twin },
      onEnd: () => this.live.delete(id),
    });
    this.live.set(id, sandbox);
    try {
      if (!options?.lazily) await sandbox.arrive({ signal: options?.signal });
      return sandbox;
    } catch (error) {
      await sandbox.terminate().catch((failure: Error) => this.context.log(`the sandbox ${id} could not be ended: ${failure.message}`));
      throw error;
    }
  }

  private async ask(account: Account, id: string, templateID: string, spec: SandboxSpec, signal: AbortSignal): Promise<Reach> {
    const json = {
      templateID,
      metadata: await metadataOf(id, spec.labels),
      timeout: this.seconds(spec.lifetimeMs),
      secure: true,
      allow_internet_access: spec.network === 'full',
    };
    return this.reachOf(account, await ask<Answer>({ url: `${account.apiUrl}/v2/sandboxes`, json, headers: { 'X-API-KEY': account.apiKey }, signal, silenceMs: ANSWER_MS }));
  }

  /** One that is paused goes on; of one that goes on already nothing but its time is changed. */
  private async wake(account: Account, sandboxId: string, lifetimeMs: number, signal: AbortSignal): Promise<Reach> {
    const json = { timeout: this.seconds(lifetimeMs) };
    try {
      return this.reachOf(account, await ask<Answer>({ url: `${account.apiUrl}/v2/sandboxes/${sandboxId}/connect`, json, headers: { 'X-API-KEY': account.apiKey }, signal, silenceMs: ANSWER_MS }));
    } catch (error) {
      signal.throwIfAborted();
      throw translate(error, 'Resuming the sandbox');
    }
  }

  private reachOf(account: Account, { sandboxID, envdAccessToken, domain }: Answer): Reach {
    const url = account.sandboxUrl ?? `https://${DAEMON_PORT}-${sandboxID}.${domain ?? account.domain}`;
    return { sandboxId: sandboxID, url, token: envdAccessToken ?? undefined };
  }

  private seconds(lifetimeMs: number): number {
    return Math.min(this.capabilities.maxSessionSeconds!, Math.ceil(lifetimeMs / 1000));
  }

  /** @throws ProviderUnavailable without a key */
  private service(): Service {
    if (this.opened) return this.opened;
    const environment = this.context.environment ?? process.env;
    const account = accountOf(environment);
    const control = new Control(account);
    const sweep = async (id: string, signal: AbortSignal): Promise<boolean> => {
      const found = await control.list(signal, id);
      await Promise.all(found.map(({ sandboxId }) => control.kill(sandboxId, signal)));
      return found.length > 0;
    };
    const limiter = limiterOf(account, environment);
    return (this.opened = { account, control, limiter, sweep, creation: new Creation({ sweep, translate }, limiter, this.intents) });
  }
}

/** @throws Unsupported for what cannot be kept */
function refuse({ resources, network, isolation = 'default', user, writable }: SandboxSpec): void {
  if (resources.gpu) throw new Unsupported('E2B has no GPUs: remove `gpu`, or use a provider that has');
  if (typeof network === 'object') throw new Unsupported('a list of allowed hosts is not supported at E2B: use `none` or `full`');
  if (isolation !== 'default') throw new Unsupported(`E2B has no isolation \`${isolation}\`: its sandboxes are virtual machines`);
  if (user !== undefined) throw new Unsupported('commands at E2B run as root of their machine: remove `user`');
  if (writable !== undefined) throw new Unsupported('a read-only root is not supported at E2B');
}

function imageOf({ image, dockerfile }: BaseImage): string | undefined {
  if (dockerfile) throw new Unsupported('E2B cannot build a Dockerfile: use `image` and `setup`');
  if (image?.startsWith('/')) throw new Unsupported('E2B cannot start from a root folder: use `image` and `setup`');
  return image;
}
