/** Sandboxes on this machine without a daemon: namespaces by bubblewrap, snapshots as overlay layers, limits by control groups. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { bound, within } from '../deadline.js';
import { SandboxError, Unsupported } from '../errors.js';
import { currentOwner, isOwnerAlive } from '../owner.js';
import type { BaseImage, BuildOptions, Health, OperationOptions, Provider, ProviderContext, ProviderSnapshot, Sandbox, SandboxInfo, SandboxSpec, SnapshotKind, SnapshotSizes } from '../provider.js';
import { bubblewrapCapabilities } from './capabilities.js';
import { describeFailure, describeHealth } from './health.js';
import { Ledger, isId } from './ledger.js';
import { commandLines, kill, withWord } from './processes.js';
import { IMPORTED } from './roots.js';
import { exportSnapshot, importSnapshot } from './transfer.js';
import { isRunningHere, Workshop } from './workshop.js';

const CHECK_TIMEOUT_MS = 30_000;
const CREATE_TIMEOUT_MS = 1_800_000;
const RESTORE_TIMEOUT_MS = 60_000;
const SHORT_TIMEOUT_MS = 30_000;

export class BubblewrapProvider implements Provider {
  readonly id = 'bubblewrap';
  readonly title = 'bubblewrap';
  readonly capabilities = bubblewrapCapabilities;
  private readonly ledger: Ledger;
  private workshop: Promise<Workshop> | undefined;
  /** Those that a check has replaced, until their last sandbox has ended. */
  private readonly retiring = new Set<Workshop>();

  constructor(private readonly context: ProviderContext) {
    this.ledger = new Ledger(join(context.stateDir, 'sandboxes'));
  }

  /** Looks at the machine anew, and makes and ends a sandbox. */
  async check(options?: OperationOptions): Promise<Health> {
    try {
      return await within('Checking bubblewrap', options, CHECK_TIMEOUT_MS, async (signal) => {
        const workshop = await this.open(signal);
        const root = await workshop.roots.prepare({}, { signal });
        const labels = { owner: workshop.owner, expires: Date.now() + CHECK_TIMEOUT_MS };
        const sandbox = await workshop.make({ root, layers: 0, marks: workshop.ability.marks, parts: [] }, { labels, resources: {}, env: {}, network: 'none', lifetimeMs: CHECK_TIMEOUT_MS }, false, signal);
        try {
          const child = sandbox.exec(['true'], { signal });
          child.stdout.resume();
          child.stderr.resume();
          const { code } = await child.exit;
          if (code !== 0) throw new SandboxError(`a command in a new sandbox ended with exit code ${code}`);
        } finally {
          await sandbox.terminate();
        }
        return describeHealth(workshop.ability);
      });
    } catch (error) {
      options?.signal?.throwIfAborted();
      return describeFailure(error);
    }
  }

  resolve(base: BaseImage, options?: BuildOptions): Promise<string> {
    return within('Resolving the base', options, CREATE_TIMEOUT_MS, async (signal) => (await this.ready()).roots.digest(base, { ...options, signal }));
  }

  create(base: BaseImage, spec: SandboxSpec, options?: BuildOptions): Promise<Sandbox> {
    return within('Creating the sandbox', options, CREATE_TIMEOUT_MS, async (signal) => {
      const workshop = await this.ready();
      const root = await workshop.roots.prepare(base, { ...options, signal });
      return workshop.make({ root, layers: 0, marks: workshop.ability.marks, parts: [] }, spec, true, signal);
    });
  }

  restore(snapshot: ProviderSnapshot, spec: SandboxSpec, options?: OperationOptions): Promise<Sandbox> {
    return within('Restoring the sandbox', options, RESTORE_TIMEOUT_MS, async (signal) => {
      const workshop = await this.ready();
      const source = await workshop.snapshots.source(snapshot);
      if (source.marks !== workshop.ability.marks) throw new SandboxError(`the snapshot ${snapshot.ref} was made by ${source.marks === 'trusted' ? 'root' : 'an ordinary user'}: build it again`);
      return workshop.make(source, spec, false, signal);
    });
  }

  list(options?: OperationOptions): Promise<SandboxInfo[]> {
    return within('Listing sandboxes', options, SHORT_TIMEOUT_MS, async () => {
      const here = await currentOwner();
      let others: Promise<ReadonlySet<string>> | undefined;
      const infos = await Promise.all(
        (await this.ledger.entries()).map(async (entry): Promise<SandboxInfo[]> => {
          const own = await this.own(entry.id);
          if (own) return [own.info];
          const info = { ...entry, provider: this.id };
          // A run makes and ends many at any time, and its process knows them: the processes of the machine are read for those of others, and once for all of them.
          const isHere = isRunningHere(entry.id) || entry.labels.owner === here;
          others ??= isHere ? undefined : commandLines().then((lines) => new Set(lines.flatMap(({ words }) => words)));
          if (isHere ? isRunningHere(entry.id) : (await others!).has(entry.id)) return [{ ...info, state: 'running' }];
          // Its processes end with their owner, so of a dead owner's only the record is left, and a folder.
          if (isHere || (await isOwnerAlive(entry.labels.owner))) return [{ ...info, state: 'starting' }];
          await (await this.ready()).forget(entry.id, true);
          return [];
        }),
      );
      return infos.flat();
    });
  }

  async terminate(id: string, options?: OperationOptions): Promise<void> {
    if (!isId(id)) return;
    const own = await this.own(id);
    if (own) return own.terminate(options);
    await within('Ending the sandbox', options, SHORT_TIMEOUT_MS, async (signal) => {
      if (!(await this.ledger.has(id))) return;
      for (let pids = await withWord(id); pids.length > 0; pids = await withWord(id)) {
        pids.forEach(kill);
        signal.throwIfAborted();
        await pause(5);
      }
      await (await this.ready()).forget(id, true);
    });
  }

  hasSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<boolean> {
    return within('Looking for the snapshot', options, SHORT_TIMEOUT_MS, async () => {
      const { ability, snapshots } = await this.ready();
      return snapshots.has(snapshot, ability.marks, join(this.context.stateDir, 'roots'));
    });
  }

  removeSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<void> {
    return within('Removing the snapshot', options, CREATE_TIMEOUT_MS, async () => {
      const { snapshots, roots, owner } = await this.ready();
      const name = await snapshots.source(snapshot).then(({ root }) => root.name, () => '');
      await snapshots.remove(snapshot, owner);
      if (name.startsWith(IMPORTED) && !(await snapshots.rootsInUse()).has(name)) await roots.remove(name);
    });
  }

  sizes(snapshots: readonly ProviderSnapshot[], options?: OperationOptions): Promise<SnapshotSizes> {
    return within('Measuring snapshots', options, SHORT_TIMEOUT_MS, async () => (await this.ready()).snapshots.sizes(snapshots));
  }

  async exportSnapshot(snapshot: ProviderSnapshot, options?: OperationOptions): Promise<Readable> {
    const { snapshots, roots, ability } = await this.ready();
    return bound(await exportSnapshot(snapshot, snapshots, roots, ability.host.tar), 'Exporting the snapshot', options, CREATE_TIMEOUT_MS);
  }

  importSnapshot(data: Readable, kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    if (kind === 'memory') return Promise.reject(new Unsupported('bubblewrap has no memory snapshots'));
    return within('Importing the snapshot', options, CREATE_TIMEOUT_MS, async (signal) => {
      const { snapshots, roots, ability, owner } = await this.ready();
      return importSnapshot(data, owner, snapshots, roots, ability, signal);
    });
  }

  /** Sandboxes that still run go on; what serves them is taken down when the last has ended. */
  async close(): Promise<void> {
    const workshop = await this.workshop?.catch(() => undefined);
    this.workshop = undefined;
    if (!workshop) return;
    const closed = this.retire(workshop);
    if (workshop.live.size === 0) await closed;
  }

  private async own(id: string): Promise<Sandbox | undefined> {
    const current = await this.workshop?.catch(() => undefined);
    for (const workshop of [...(current ? [current] : []), ...this.retiring]) {
      const sandbox = workshop.live.get(id);
      if (sandbox) return sandbox;
    }
    return undefined;
  }

  private ready(): Promise<Workshop> {
    return this.workshop ?? this.open();
  }

  /** Takes the machine as it is now. One that is put right is looked at again, so a failure is not kept. */
  private open(signal?: AbortSignal): Promise<Workshop> {
    const previous = this.workshop;
    const opening = (async () => {
      const before = await previous?.catch(() => undefined);
      const workshop = await Workshop.open(this.context, this.ledger, before, signal);
      if (before && before !== workshop) void this.retire(before);
      return workshop;
    })();
    this.workshop = opening;
    opening.catch(() => {
      if (this.workshop === opening) this.workshop = previous;
    });
    return opening;
  }

  private async retire(workshop: Workshop): Promise<void> {
    this.retiring.add(workshop);
    await workshop.close().catch((error: Error) => this.context.log(`bubblewrap: ${error.message}`));
    this.retiring.delete(workshop);
  }
}
