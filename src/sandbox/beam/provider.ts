/** Sandboxes of Beam, or of a beta9 of one's own. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import { unhealthy } from '../account.js';
import { BuildFailed, SandboxError, Unsupported } from '../errors.js';
import type { BaseImage, BuildOptions, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, RestoreOptions, Sandbox, SandboxInfo, SandboxSpec, SnapshotSizes, Waits } from '../provider.js';
import { Creation } from '../remote/creation.js';
import { Refused } from '../remote/failures.js';
import { Intents } from '../remote/intents.js';
import { Layers, readRef, type Layer } from '../remote/layers.js';
import type { CreationLimiter } from '../remote/limiter.js';
import { RemoteSandbox } from '../remote/sandbox.js';
import { accountOf, limiterOf, type Account } from './account.js';
import { beamCapabilities } from './capabilities.js';
import { BeamEndpoint } from './endpoint.js';
import { checkpointName, readCheckpoint, type Checkpoint } from './checkpoint.js';
import { NotOk, translate } from './failures.js';
import { Gateway, type StubConfig } from './gateway.js';
import { isThere, Ledger } from './ledger.js';
import { nameOf } from './name.js';
import { stubOf } from './stub.js';

const CHECK_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;
const BUILD_TIMEOUT_MS = 1_800_000;
const READY_TIMEOUT_MS = 600_000;
const NEXT_SECOND_MS = 1000;
/** What a template without `image` starts from. */
const DEFAULT_IMAGE = 'docker.io/library/debian:bookworm';

/** What belongs to an account; made when it is first needed, since there may be none. */
interface Service {
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: CreationLimiter;
  readonly creation: Creation;
  readonly ledger: Ledger;
}

/** What a sandbox begins as. */
type Origin = { readonly imageId: string } | Checkpoint;

export class BeamProvider implements Provider {
  readonly id = 'beam';
  readonly title = 'Beam';
  readonly capabilities = beamCapabilities;
  private readonly live = new Map<string, RemoteSandbox>();
  private readonly creating = new Set<string>();
  private readonly notes: Intents;
  private readonly layers: Layers;
  /** By stub, until the next image of it may be asked for. */
  private readonly copying = new Map<string, Promise<void>>();
  private opened: Service | undefined;

  constructor(private readonly context: ProviderContext) {
    this.notes = new Intents(join(context.stateDir, 'sandboxes'));
    this.layers = new Layers(join(context.stateDir, 'snapshots'));
  }

  /** One question, which costs nothing. */
  async check(options?: OperationOptions): Promise<Health> {
    try {
      options?.signal?.throwIfAborted();
      const { gateway, account, limiter } = this.service();
      const all = await within('Asking Beam', options, CHECK_TIMEOUT_MS, (signal) => gateway.containers(signal));
      return {
        ok: true,
        summary: `Beam at ${account.gatewayUrl}, containers of the account there: ${all.length}`,
        limits: { cpu: 'none', memory: 'none', pids: 'none', disk: 'none' },
        account: { service: account.gatewayUrl, live: all.filter(isThere).length, concurrent: limiter.allowance.concurrent, creationsPerSecond: limiter.allowance.perSecond },
        details: {
          'processors and memory': 'those of the container, kept by the service',
          GPUs: 'asked for in the words of the service; never run by this project',
          tested: 'against a simulator that the vendor\'s own SDK validates, not the live service; `npm run test:live -- beam` does that with your token',
        },
      };
    } catch (error) {
      options?.signal?.throwIfAborted();
      return unhealthy(translate(error, 'Asking Beam'), { otherwise: 'look at status.beam.cloud, or try again', quota: 'wait, or look at what the plan of the account allows', network: 'check the network, and BEAM_GATEWAY_URL if it is set' });
    }
  }

  /** It hands them out itself. */
  gpus(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** The service does not say what content an image's name stands for, so the name is all that counts. */
  resolve(base: BaseImage, options?: BuildOptions): Promise<string> {
    options?.signal?.throwIfAborted();
    return Promise.resolve(`beam:${imageOf(base)}`);
  }

  async create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox> {
    const reference = imageOf(base);
    const { gateway } = this.service();
    const encoder = new TextEncoder();
    const imageId = await within('Converting the image', options, BUILD_TIMEOUT_MS, (signal) => gateway.image(reference, signal, (text) => options?.onOutput?.(encoder.encode(text)))).catch((error: unknown) => {
      if (error instanceof NotOk) throw new BuildFailed(`Beam could not take the image ${reference}: ${error.message}`, '', { cause: error });
      throw translate(error, 'Converting the image');
    });
    return this.open({ imageId }, [], undefined, spec, options);
  }

  async restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: RestoreOptions): Promise<Sandbox> {
    const { snapshotId, mark } = readRef(snapshot.ref);
    const below = await this.layers.of(snapshotId);
    if (below.length === 0) throw new BuildFailed('the snapshot was removed, or taken by another machine: build the template again');
    if (snapshot.kind === 'filesystem') return this.open({ imageId: snapshotId }, below, mark, spec, options);
    const checkpoint = readCheckpoint(snapshotId);
    const { network } = checkpoint;
    if (network !== spec.network) throw new Unsupported(`the processes of the memory snapshot have ${network === 'none' ? 'no network' : 'a network'}, and so has a sandbox of it: \`network: ${network === 'none' ? 'full' : 'none'}\` cannot be had`);
    return this.open(checkpoint, below, mark, spec, options);
  }

  list(options?: OperationOptions): Promise<SandboxInfo[]> {
    return this.asking('Listing sandboxes', options, QUERY_TIMEOUT_MS, ({ ledger }, signal) => ledger.list(signal));
  }

  async terminate(id: string, options?: OperationOptions): Promise<void> {
    const own = this.live.get(id);
    if (own) return own.terminate(options);
    await this.asking('Ending the sandbox', options, QUERY_TIMEOUT_MS, async ({ ledger }, signal) => {
      if (await ledger.sweep(id, signal)) await this.notes.settle(id);
      else await this.notes.expire(id);
    });
  }

  hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    if (snapshot.provider !== this.id) return Promise.resolve(false);
    const { snapshotId } = readRef(snapshot.ref);
    // There is no question about a checkpoint.
    return this.asking('Looking for the snapshot', options, QUERY_TIMEOUT_MS, async ({ gateway }, signal) => (await this.layers.of(snapshotId)).length > 0 && (snapshot.kind === 'memory' || gateway.hasImage(snapshotId, signal)));
  }

  /** The service has no call that deletes an image or a checkpoint, so it is only never used again. */
  removeSnapshot(snapshot: ProviderSnapshot): Promise<void> {
    return this.layers.remove(readRef(snapshot.ref).snapshotId);
  }

  sizes(snapshots: readonly ProviderSnapshot[]): Promise<SnapshotSizes> {
    return this.layers.sizes(snapshots);
  }

  exportSnapshot(): Promise<Readable> {
    return Promise.reject(new Unsupported('a snapshot cannot be taken out of Beam: build the template there, where it is to be used'));
  }

  importSnapshot(data: Readable): Promise<ProviderSnapshot> {
    data.destroy();
    return Promise.reject(new Unsupported('a snapshot cannot be taken into Beam: build the template there'));
  }

  waits(): Waits | undefined {
    return this.opened?.limiter.waits();
  }

  async close(): Promise<void> {
    await this.opened?.creation.close();
  }

  private async open(origin: Origin, below: readonly Layer[], mark: string | undefined, spec: SandboxSpec, options: RestoreOptions | undefined): Promise<RemoteSandbox> {
    refuse(spec);
    const { gateway, creation } = this.service();
    const id = randomBytes(8).toString('hex');
    this.creating.add(id);
    const { answer, place } = await creation
      .create(id, spec.labels, (signal) => this.ask(gateway, id, origin, spec, signal), options?.signal)
      .finally(() => this.creating.delete(id));
    // What waited for its place was not billed.
    const info: SandboxInfo = { id, provider: this.id, labels: spec.labels, createdAt: Date.now(), state: 'running' };
    const { containerId, stubId } = answer;
    const twin = async (signal: AbortSignal): Promise<RemoteSandbox> => this.open(origin, below, mark, spec, { signal });
    const sandbox = new RemoteSandbox({
      title: this.title,
      endpoint: new BeamEndpoint(gateway, containerId),
      layers: this.layers,
      place,
      copy: (signal, kind) => (kind === 'memory' ? this.copyMemory(gateway, containerId, stubId, spec, signal) : this.copy(gateway, containerId, stubId, signal)),
      copiesMemory: true,
      kind: 'checkpointId' in origin ? 'memory' : 'filesystem',
      end: async (signal) => {
        await gateway.stop(containerId, signal);
        await this.notes.settle(id);
      },
      copied: 'checkpointId' in origin,
      ...{ info, spec, mark, below, twin },
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

  private async ask(gateway: Gateway, id: string, origin: Origin, spec: SandboxSpec, signal: AbortSignal): Promise<{ containerId: string; stubId: string }> {
    const known = 'checkpointId' in origin ? origin.stubId : await this.stub(gateway, stubOf(await nameOf(id, spec.labels), origin.imageId, spec), signal);
    const about = 'checkpointId' in origin ? { known, shared: true as const } : { known };
    await this.notes.add(id, spec.labels, about);
    const containerId = await gateway.pod('checkpointId' in origin ? { checkpointId: origin.checkpointId } : { stubId: known }, signal).catch((error: unknown) => {
      if (!(error instanceof NotOk)) throw error;
      // Nothing was created; of the refusals, only that for room is one to wait for.
      throw /concurren/i.test(error.message) ? new Refused(429, error.message) : translate(error, 'Creating the sandbox');
    });
    await this.notes.add(id, spec.labels, { ...about, there: containerId });
    await within('Starting the sandbox', { signal }, READY_TIMEOUT_MS, (inner) => gateway.again(inner, () => gateway.connect(containerId, inner)));
    // It has the life of the one that the checkpoint was taken of.
    if ('checkpointId' in origin) await gateway.setLife(containerId, Math.ceil(spec.lifetimeMs / 1000), signal);
    return { containerId, stubId: known };
  }

  /** One for each sandbox: it is what tells one from another, and what keeps the names of their images apart. No container comes of a stub alone. */
  private stub(gateway: Gateway, config: StubConfig, signal: AbortSignal): Promise<string> {
    return gateway.stub(config, signal).catch((error: unknown) => {
      throw error instanceof Refused && error.status === 429 ? error : translate(error, 'Creating the sandbox');
    });
  }

  /** Its name is the stub's and the second: two of a stub are not asked for in the same one, and a name that was given out before is that of another content. */
  private async copy(gateway: Gateway, containerId: string, stubId: string, signal: AbortSignal): Promise<string> {
    const before = this.copying.get(stubId) ?? Promise.resolve();
    const taken = before.then(() => this.taking(signal, gateway.imageOf(containerId, stubId, signal)));
    const after = taken.then(() => pause(NEXT_SECOND_MS), () => pause(NEXT_SECOND_MS)).then(() => {
      if (this.copying.get(stubId) === after) this.copying.delete(stubId);
    });
    this.copying.set(stubId, after);
    const imageId = await taken;
    if ((await this.layers.of(imageId)).length > 0) throw new SandboxError(`Beam has given the new snapshot the name of another one, ${imageId}`);
    return imageId;
  }

  private async copyMemory(gateway: Gateway, containerId: string, stubId: string, { network }: SandboxSpec, signal: AbortSignal): Promise<string> {
    const checkpointId = await this.taking(signal, gateway.checkpointOf(containerId, stubId, signal));
    return checkpointName({ checkpointId, stubId, network: network === 'full' ? 'full' : 'none' });
  }

  private taking(signal: AbortSignal, asked: Promise<string>): Promise<string> {
    return asked.catch((error: unknown) => {
      signal.throwIfAborted();
      throw translate(error, 'Taking the snapshot');
    });
  }

  private asking<T>(doing: string, options: OperationOptions | undefined, timeoutMs: number, work: (service: Service, signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(doing, options, timeoutMs, async (signal) => {
      try {
        return await work(this.service(), signal);
      } catch (error) {
        signal.throwIfAborted();
        throw translate(error, doing);
      }
    });
  }

  /** @throws ProviderUnavailable without a token */
  private service(): Service {
    if (this.opened) return this.opened;
    const environment = this.context.environment ?? process.env;
    const account = accountOf(environment);
    const gateway = new Gateway(account);
    const ledger = new Ledger(this.notes, gateway, this.creating);
    const sweep = ledger.sweep.bind(ledger);
    const limiter = limiterOf(account, environment);
    return (this.opened = { account, gateway, limiter, ledger, creation: new Creation({ sweep, translate, keepsNotes: true }, limiter, this.notes) });
  }
}

/** @throws Unsupported for what cannot be kept */
function refuse({ network, isolation = 'default', user, writable }: SandboxSpec): void {
  if (typeof network === 'object') throw new Unsupported('a list of allowed hosts is not supported at Beam, which knows addresses only: use `none` or `full`');
  if (isolation !== 'default') throw new Unsupported(`isolation \`${isolation}\` cannot be chosen at Beam`);
  if (user !== undefined) throw new Unsupported('commands at Beam run as root of their container: remove `user`');
  if (writable !== undefined) throw new Unsupported('a read-only root is not supported at Beam');
}

function imageOf({ image = DEFAULT_IMAGE, dockerfile }: BaseImage): string {
  if (dockerfile) throw new Unsupported('a Dockerfile cannot be built at Beam by this provider: use `image` and `setup`');
  if (image.startsWith('/')) throw new Unsupported('Beam cannot start from a root folder: use `image` and `setup`');
  return image;
}
