/** What sandboxes are made with, set up once for a machine as it is found, and the making itself. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ProviderUnavailable, Unsupported } from '../errors.js';
import { listOf, Outlet, proxyVariables } from '../network/outlet.js';
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { ProviderContext, SandboxInfo, SandboxSpec } from '../provider.js';
import { findAbility, type Ability } from './ability.js';
import { removeTree } from './disk.js';
import { Fifos } from './fifos.js';
import { resolvConf } from './host.js';
import type { Launch } from './launch.js';
import { isId, type Ledger } from './ledger.js';
import { limitsOf } from './limits.js';
import { startRelay } from './outlet.js';
import { writableFolders } from '../writable.js';
import { withWord } from './processes.js';
import { Roots } from './roots.js';
import { BubblewrapSandbox } from './sandbox.js';
import { Slots } from './slots.js';
import { Snapshots, type Source } from './snapshots.js';
import { start } from './start.js';
import { Starter } from './starter.js';

/** A sandbox's own alarm comes later than ours, which ends it in good order. */
const GRACE_SECONDS = 10;

/** Those of this process, whichever provider has made them. */
const runningHere = new Set<string>();

export const isRunningHere = (id: string): boolean => runningHere.has(id);

export class Workshop {
  readonly roots: Roots;
  readonly snapshots: Snapshots;
  readonly live = new Map<string, BubblewrapSandbox>();
  private readonly fifos: Fifos;
  private readonly slots: Slots;
  private readonly starter: Starter;
  /** Sandboxes that have not been taken back yet. */
  private count = 0;
  private whenIdle: (() => void) | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    readonly ability: Ability,
    readonly owner: string,
    private readonly context: ProviderContext,
    private readonly ledger: Ledger,
    /** Of this process's own. */
    private readonly folder: string,
  ) {
    const { stateDir, log } = context;
    this.roots = new Roots(join(stateDir, 'roots'), ability.host.chmod, ability.privileged);
    this.snapshots = new Snapshots(join(stateDir, 'snapshots'), ability.host);
    this.fifos = new Fifos(join(folder, 'pipes'), ability.host.mkfifo);
    this.slots = new Slots(this.fifos);
    this.starter = new Starter(ability.host.perl, log);
  }

  /**
   * For the machine as it is now; `previous` itself if nothing has changed.
   * @throws ProviderUnavailable with what a person can do
   */
  static async open(context: ProviderContext, ledger: Ledger, previous: Workshop | undefined, signal?: AbortSignal): Promise<Workshop> {
    const { stateDir } = context;
    await mkdir(stateDir, { recursive: true }).catch((error: Error) => {
      throw new ProviderUnavailable(`the folder ${stateDir} cannot be made: ${error.message}`, 'choose a folder that can be written to', { cause: error });
    });
    const owner = await currentOwner();
    const ability = await findAbility(stateDir, owner, signal);
    if (previous && isDeepStrictEqual(comparable(previous.ability), comparable(ability))) return previous;
    await removeStale(stateDir, ledger, ability);
    const folder = join(stateDir, 'run', `${owner.replaceAll(':', '_')}-${randomBytes(3).toString('hex')}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Workshop(ability, owner, context, ledger, folder);
  }

  /** A running sandbox. Rejects with what went wrong, or the signal's reason, when nothing is left of it. */
  async make(source: Source, spec: SandboxSpec, build: boolean, signal: AbortSignal): Promise<BubblewrapSandbox> {
    const { ability, slots, starter, fifos, snapshots } = this;
    const limits = limitsOf(spec.resources, build);
    const list = listOf(spec.network);
    const user = build ? undefined : spec.user;
    if (user !== undefined && !ability.privileged) throw new Unsupported('only root can run a bubblewrap sandbox as another user; leave `user` out, or use docker or podman');
    if (spec.isolation === 'gvisor') throw new Unsupported('bubblewrap has no gVisor; the docker provider has');
    const id = `bw-${randomBytes(8).toString('hex')}`;
    const entry = { id, labels: spec.labels, createdAt: Date.now() };
    const work = (build ? ability.folderDisk : !ability.memoryDisk) ? join(this.context.stateDir, 'work', id) : undefined;
    this.count++;
    const undo: (() => unknown)[] = [() => this.forget(id, work !== undefined)];
    const takeBack = async (): Promise<void> => {
      const failures: unknown[] = [];
      for (const each of undo.splice(0).reverse()) {
        try {
          await each();
        } catch (error) {
          failures.push(error);
        }
      }
      this.live.delete(id);
      runningHere.delete(id);
      if (--this.count === 0) this.whenIdle?.();
      if (failures.length > 0) throw failures[0];
    };
    try {
      const [group, slot] = await all(
        taken(ability.cgroups.acquire(limits), (each) => undo.push(() => ability.cgroups.release(each))),
        taken(slots.acquire(), (each) => undo.push(() => slots.release(each))),
        this.ledger.add(entry),
        work === undefined ? undefined : mkdir(work, { recursive: true }),
      );
      const launch: Launch = { source, limits, network: spec.network, work, build, lifetimeSeconds: Math.ceil(spec.lifetimeMs / 1000) + GRACE_SECONDS, procs: group.procs, user, writable: build ? undefined : writableFolders(spec, source.root.workdir), resolvConf: spec.network === 'full' ? await resolvConf() : undefined };
      const started = await start({ stateDir: this.context.stateDir, ability, starter, slot, group, id, launch, env: { ...proxyVariables(spec.network), ...spec.env }, workdir: spec.workdir }, signal);
      const info: SandboxInfo = { ...entry, provider: 'bubblewrap', state: 'running' };
      const outlet = list && new Outlet({ list, onRequest: spec.onNetwork, start: () => startRelay(started.target) });
      const sandbox = new BubblewrapSandbox({ id, info, stateDir: this.context.stateDir, launch, started, fifos, group, snapshots, outlet, lifetimeMs: spec.lifetimeMs, takeBack });
      this.live.set(id, sandbox);
      runningHere.add(id);
      await outlet?.ready().catch(async (error: unknown) => {
        await sandbox.terminate();
        throw error;
      });
      // Whoever waited may have stopped waiting, and nobody else knows of it.
      if (signal.aborted) await sandbox.terminate();
      signal.throwIfAborted();
      return sandbox;
    } catch (error) {
      // What went wrong first says more than what went wrong because of it.
      if (undo.length > 0) await takeBack().catch((failure: Error) => this.context.log(`bubblewrap: ${failure.message}`));
      throw error;
    }
  }

  /** Removes what is known of a sandbox that does not run any more. */
  async forget(id: string, hasFolder: boolean): Promise<void> {
    if (hasFolder) await removeTree(join(this.context.stateDir, 'work', id), this.ability.host.chmod);
    await this.ledger.remove(id);
  }

  /** Takes everything down when the last sandbox has ended: they end with the process that started them. */
  close(): Promise<void> {
    return (this.closing ??= this.takeDown());
  }

  private async takeDown(): Promise<void> {
    if (this.count > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
    this.starter.close();
    this.slots.close();
    await this.ability.cgroups.close();
    await this.fifos.close();
    await removeTree(this.folder, this.ability.host.chmod);
  }
}

/** Takes note of what was acquired, so that it is given back whatever becomes of the rest. */
const taken = async <T>(acquiring: Promise<T>, note: (thing: T) => unknown): Promise<T> => {
  const thing = await acquiring;
  note(thing);
  return thing;
};

/** Like `Promise.all`, but rejects only when all have settled: what one of them acquires late is known by then. */
async function all<T extends readonly unknown[]>(...works: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

const comparable = ({ cgroups, ...rest }: Ability) => ({ ...rest, hierarchies: cgroups.hierarchies });

/** Removes what dead processes left in the folder of state, but for what `list` finds. */
async function removeStale(stateDir: string, ledger: Ledger, { host }: Ability): Promise<void> {
  for (const name of await readdir(join(stateDir, 'run')).catch(() => [])) {
    if (!(await isOwnerAlive(name.replace(/-[0-9a-f]+$/, '').replaceAll('_', ':')))) await removeTree(join(stateDir, 'run', name), host.chmod);
  }
  for (const id of await readdir(join(stateDir, 'work')).catch(() => [])) {
    if (isId(id) && !(await ledger.has(id)) && (await withWord(id)).length === 0) await removeTree(join(stateDir, 'work', id), host.chmod);
  }
}
