/** Sandboxes on this machine without a daemon: namespaces by bubblewrap, snapshots as overlay layers, limits by control groups. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../deadline.js';
import { ProviderUnavailable, SandboxError } from '../errors.js';
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { BaseImage, BuildOptions, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, Sandbox, SandboxInfo, SandboxSpec } from '../provider.js';
import { findAbility, type Ability } from './ability.js';
import { bubblewrapCapabilities } from './capabilities.js';
import { removeTree } from './disk.js';
import { Fifos } from './fifos.js';
import { describeHealth, describeFailure } from './health.js';
import { resolvConf } from './host.js';
import { mountTable } from './launch.js';
import { Ledger, isId } from './ledger.js';
import { limitsOf } from './limits.js';
import { kill, withWord } from './processes.js';
import { Roots } from './roots.js';
import { BubblewrapSandbox } from './sandbox.js';
import { Snapshots, type Source } from './snapshots.js';
import { start } from './start.js';

const CHECK_TIMEOUT_MS = 30_000;
const CREATE_TIMEOUT_MS = 1_800_000;
const RESTORE_TIMEOUT_MS = 60_000;
const SHORT_TIMEOUT_MS = 30_000;

/** All that is made once for a provider that works on this machine. */
interface Workshop {
  readonly ability: Ability;
  readonly owner: string;
  readonly fifos: Fifos;
  readonly roots: Roots;
  readonly snapshots: Snapshots;
  /** Files of mount tables by what they mount. */
  readonly tables: Map<string, Promise<string>>;
  /** Folder of this process, removed with it. */
  readonly folder: string;
}

export class BubblewrapProvider implements Provider {
  readonly id = 'bubblewrap';
  readonly title = 'bubblewrap';
  readonly capabilities = bubblewrapCapabilities;
  private readonly stateDir: string;
  private readonly ledger: Ledger;
  private readonly live = new Map<string, BubblewrapSandbox>();
  private workshop: Promise<Workshop> | undefined;

  constructor(private readonly context: ProviderContext) {
    this.stateDir = context.stateDir;
    this.ledger = new Ledger(join(this.stateDir, 'sandboxes'));
  }

  /** Looks at the machine anew, and makes and ends a sandbox. */
  async check(options?: OperationOptions): Promise<Health> {
    try {
      return await within('Checking bubblewrap', options, CHECK_TIMEOUT_MS, async (signal) => {
        const previous = this.workshop;
        const workshop = this.open(signal);
        this.workshop = workshop;
        if (previous) await (await previous.catch(() => undefined))?.ability.cgroups.close();
        const { ability, owner, roots } = await workshop;
        const source: Source = { root: await roots.prepare({}, { signal }), layers: 0, marks: ability.marks };
        const labels = { owner, expires: Date.now() + CHECK_TIMEOUT_MS };
        const sandbox = await this.begin(source, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: CHECK_TIMEOUT_MS }, false, signal);
        try {
          const child = sandbox.exec(['true'], { signal });
          child.stdout.resume();
          child.stderr.resume();
          const { code } = await child.exit;
          if (code !== 0) throw new SandboxError(`a command in a new sandbox ended with exit code ${code}`);
        } finally {
          await sandbox.terminate();
        }
        return describeHealth(ability);
      });
    } catch (error) {
      options?.signal?.throwIfAborted();
      return describeFailure(error);
    }
  }

  async resolve(base: BaseImage, options?: BuildOptions): Promise<string> {
    return within('Resolving the base', options, CREATE_TIMEOUT_MS, async (signal) => (await this.ready()).roots.digest(base, { ...options, signal }));
  }

  create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox> {
    return within('Creating the sandbox', options, CREATE_TIMEOUT_MS, async (signal) => {
      const { ability, roots } = await this.ready();
      const root = await roots.prepare(base, { ...options, signal });
      return this.begin({ root, layers: 0, marks: ability.marks }, spec, true, signal);
    });
  }

  restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: OperationOptions): Promise<Sandbox> {
    return within('Restoring the sandbox', options, RESTORE_TIMEOUT_MS, async (signal) => {
      const { ability, snapshots } = await this.ready();
      const source = await snapshots.source(snapshot);
      if (source.marks !== ability.marks) throw new SandboxError(`the snapshot ${snapshot.ref} was made by ${source.marks === 'trusted' ? 'root' : 'an ordinary user'}: build it again`);
      return this.begin(source, spec, false, signal);
    });
  }

  async list(options?: OperationOptions): Promise<SandboxInfo[]> {
    return within('Listing sandboxes', options, SHORT_TIMEOUT_MS, async () => {
      const infos = await Promise.all(
        (await this.ledger.entries()).map(async (entry): Promise<SandboxInfo[]> => {
          const own = this.live.get(entry.id);
          if (own) return [own.info];
          const info = { ...entry, provider: this.id };
          if ((await withWord(entry.id)).length > 0) return [{ ...info, state: 'running' }];
          // Its processes end with their owner, so of a dead owner's only the record is left, and a folder.
          if (await isOwnerAlive(entry.labels.owner)) return [{ ...info, state: 'starting' }];
          await this.forget(entry.id);
          return [];
        }),
      );
      return infos.flat();
    });
  }

  async terminate(id: string, options?: OperationOptions): Promise<void> {
    const own = this.live.get(id);
    if (own) return own.terminate(options);
    if (!isId(id)) return;
    await within('Ending the sandbox', options, SHORT_TIMEOUT_MS, async (signal) => {
      for (let pids = await withWord(id); pids.length > 0; pids = await withWord(id)) {
        pids.forEach(kill);
        signal.throwIfAborted();
        await pause(5);
      }
      await this.forget(id);
    });
  }

  async hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    return within('Looking for the snapshot', options, SHORT_TIMEOUT_MS, async () => {
      const { ability, snapshots } = await this.ready();
      return snapshots.has(snapshot, ability.marks, join(this.stateDir, 'roots'));
    });
  }

  async removeSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<void> {
    return within('Removing the snapshot', options, CREATE_TIMEOUT_MS, async () => {
      const { snapshots, tables } = await this.ready();
      tables.delete(snapshot.ref);
      await snapshots.remove(snapshot);
    });
  }

  async close(): Promise<void> {
    const workshop = await this.workshop?.catch(() => undefined);
    this.workshop = undefined;
    if (!workshop) return;
    await workshop.ability.cgroups.close();
    await workshop.fifos.close();
    // Tables of sandboxes that still run are needed no longer: their file systems are mounted.
    await removeTree(workshop.folder, workshop.ability.host.chmod);
  }

  private ready(): Promise<Workshop> {
    if (!this.workshop) {
      const opening = this.open();
      this.workshop = opening;
      // A machine that is put right is looked at again.
      opening.catch(() => {
        if (this.workshop === opening) this.workshop = undefined;
      });
    }
    return this.workshop;
  }

  private async open(signal?: AbortSignal): Promise<Workshop> {
    await mkdir(this.stateDir, { recursive: true, mode: 0o755 }).catch((error: Error) => {
      throw new ProviderUnavailable(`the folder ${this.stateDir} cannot be made: ${error.message}`, 'choose a folder that can be written to', { cause: error });
    });
    const owner = await currentOwner();
    const ability = await findAbility(this.stateDir, owner, signal);
    await this.removeStale(ability);
    const folder = join(this.stateDir, 'run', `${owner.replaceAll(':', '_')}-${randomBytes(3).toString('hex')}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return {
      ability,
      owner,
      folder,
      fifos: new Fifos(join(folder, 'pipes'), ability.host.mkfifo),
      roots: new Roots(join(this.stateDir, 'roots'), ability.host.chmod, ability.privileged),
      snapshots: new Snapshots(join(this.stateDir, 'snapshots'), ability.host),
      tables: new Map(),
    };
  }

  private async begin(source: Source, spec: SandboxSpec, build: boolean, signal: AbortSignal): Promise<Sandbox> {
    const limits = limitsOf(spec.resources);
    const { ability, fifos, snapshots, tables, folder } = await this.ready();
    const id = `bw-${randomBytes(8).toString('hex')}`;
    const entry = { id, labels: spec.labels, createdAt: Date.now() };
    const work = (build ? ability.folderDisk : !ability.memoryDisk) ? join(this.stateDir, 'work', id) : undefined;
    const [group, table] = await Promise.all([ability.cgroups.acquire(limits), this.table(source, ability, tables, folder), this.ledger.add(entry), work === undefined ? undefined : mkdir(work, { recursive: true })]);
    const release = async (): Promise<void> => {
      ability.cgroups.release(group);
      this.live.delete(id);
      await this.forget(id, ability, work !== undefined);
    };
    try {
      const launch = { source, limits, network: spec.network, work, build, procs: group.procs, resolvConf: spec.network === 'full' ? await resolvConf() : undefined };
      const started = await start({ stateDir: this.stateDir, ability, fifos, group, id, launch, table, env: spec.env, workdir: spec.workdir }, signal);
      const info: SandboxInfo = { ...entry, provider: this.id, state: 'running' };
      const sandbox = new BubblewrapSandbox({ id, info, stateDir: this.stateDir, launch, started, fifos, group, snapshots, lifetimeMs: spec.lifetimeMs, release });
      this.live.set(id, sandbox);
      if (signal.aborted) {
        // Whoever waited has stopped waiting, and nobody else knows of it.
        await sandbox.terminate();
        throw signal.reason;
      }
      return sandbox;
    } catch (error) {
      await release();
      throw error;
    }
  }

  private table(source: Source, ability: Ability, tables: Workshop['tables'], folder: string): Promise<string> {
    const name = source.folder?.split('/').at(-1) ?? `root-${source.root.name}`;
    let table = tables.get(name);
    if (!table) {
      const file = join(folder, `${name}.mounts`);
      table = writeFile(file, mountTable(this.stateDir, ability, source)).then(() => file);
      tables.set(name, table);
    }
    return table;
  }

  /** Removes what is known of a sandbox that does not run any more. */
  private async forget(id: string, ability?: Ability, hasFolder = true): Promise<void> {
    if (hasFolder) await removeTree(join(this.stateDir, 'work', id), (ability ?? (await this.ready()).ability).host.chmod);
    await this.ledger.remove(id);
  }

  /** Removes what dead processes left in the folder of state, sandboxes aside. */
  private async removeStale({ host }: Ability): Promise<void> {
    for (const name of await readdir(join(this.stateDir, 'run')).catch(() => [])) {
      if (!(await isOwnerAlive(name.replace(/-[0-9a-f]+$/, '').replaceAll('_', ':')))) await removeTree(join(this.stateDir, 'run', name), host.chmod);
    }
    for (const id of await readdir(join(this.stateDir, 'work')).catch(() => [])) {
      if (isId(id) && !(await this.ledger.has(id)) && (await withWord(id)).length === 0) await removeTree(join(this.stateDir, 'work', id), host.chmod);
    }
  }
}

