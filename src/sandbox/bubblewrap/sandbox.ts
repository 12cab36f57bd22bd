/** One sandbox, from its start to its end. */
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { within } from '../deadline.js';
import { SandboxLost, Unsupported } from '../errors.js';
import { ShellFiles } from '../shellFiles.js';
import type { Duplex } from 'node:stream';
import type { ExecOptions, ExecProcess, FileChange, ListeningPort, OperationOptions, ProviderSnapshot, Sandbox, SandboxInfo, SandboxStats, SnapshotKind } from '../provider.js';
import type { Group } from './cgroups.js';
import { findChanges } from './changes.js';
import { Commands } from './commands.js';
import type { Fifos } from './fifos.js';
import { runBeside } from './joined.js';
import { layerParts, type Launch } from './launch.js';
import { mountFolder } from './ability.js';
import { diskFailure } from './disk.js';
import { Ports } from './ports.js';
import { kill } from './processes.js';
import type { Outlet } from '../network/outlet.js';
import type { Snapshots } from './snapshots.js';
import { StandStill } from './standStill.js';
import type { Started } from './start.js';
import { Usage } from './stats.js';
import { TOOLS, tool } from './tools.js';

const KILL_TIMEOUT_MS = 15_000;
const SHORT_TIMEOUT_MS = 15_000;
const CHANGES_TIMEOUT_MS = 120_000;
const SNAPSHOT_TIMEOUT_MS = 1_800_000;
const TERMINATE_TIMEOUT_MS = 30_000;
/** After this the first process is not waited for any longer, and its monitor is killed too. */
const PATIENCE_MS = 5_000;
const MOST_TIMER_MS = 2 ** 31 - 1;

export interface SandboxParts {
  readonly id: string;
  readonly info: SandboxInfo;
  readonly stateDir: string;
  readonly launch: Launch;
  readonly started: Started;
  readonly fifos: Fifos;
  readonly group: Group;
  readonly snapshots: Snapshots;
  /** The way out of one with a list of allowed hosts. */
  readonly outlet: Outlet | undefined;
  readonly lifetimeMs: number;
  /** Takes back what was set up for it, once nothing of it runs. */
  readonly takeBack: () => Promise<void>;
}

export class BubblewrapSandbox implements Sandbox {
  readonly id: string;
  readonly files: ShellFiles;
  readonly ended: Promise<void>;
  private readonly commands: Commands;
  private readonly network: Ports;
  private readonly usage: Usage;
  private readonly released: Promise<void>;
  private readonly timer: NodeJS.Timeout;
  private over = false;
  /** What still needs the folder that the sandbox wrote to. */
  private taking: Promise<ProviderSnapshot> | undefined;

  constructor(private readonly parts: SandboxParts) {
    const { started, fifos, group } = parts;
    this.id = parts.id;
    this.commands = new Commands({ ...started, fifos, group });
    this.files = new ShellFiles((argv, options) => this.exec(argv, options), tool, ['/proc', '/sys', '/dev', TOOLS]);
    const joined = (): number[] => this.commands.joinedPids;
    this.network = new Ports(started.target, parts.launch.network, joined);
    this.usage = new Usage(group, started.target.gate, joined);
    void this.usage.start();
    // Whoever waits for it sees a failure; the next look at the ledger tries again.
    this.released = started.ended.then(() => this.end());
    this.ended = this.released.catch(() => undefined);
    this.timer = setTimeout(() => this.kill(), Math.min(parts.lifetimeMs, MOST_TIMER_MS));
    this.timer.unref();
  }

  get info(): SandboxInfo {
    return { ...this.parts.info, state: this.over ? 'exited' : 'running' };
  }

  exec(argv: readonly string[], options: ExecOptions = {}): ExecProcess {
    return this.commands.exec(argv, options);
  }

  killAll(options?: OperationOptions): Promise<void> {
    return within('Killing the processes of the sandbox', options, KILL_TIMEOUT_MS, (signal) => this.commands.killAll(signal));
  }

  stats(options?: OperationOptions): Promise<SandboxStats> {
    return within('Measuring the sandbox', options, SHORT_TIMEOUT_MS, () => this.alive(() => this.usage.stats()));
  }

  changes(options?: OperationOptions): Promise<FileChange[]> {
    const { stateDir, started, launch } = this.parts;
    return within('Looking for what has changed', options, CHANGES_TIMEOUT_MS, (signal) => this.alive(() => findChanges(stateDir, started.target, launch, signal)));
  }

  ports(options?: OperationOptions): Promise<ListeningPort[]> {
    return within('Looking for ports', options, SHORT_TIMEOUT_MS, () => this.alive(() => this.network.list()));
  }

  connect(port: number, options?: OperationOptions): Promise<Duplex> {
    return within(`Connecting to port ${port}`, options, SHORT_TIMEOUT_MS, (signal) => this.alive(() => this.network.connect(port, signal)));
  }

  /**
   * A sandbox that was made to be set up ends with its snapshot: its folder becomes the layer, however large it is. One that was restored lives
   * on; its processes stand still while what it wrote is copied.
   */
  snapshot(kind: SnapshotKind, options?: OperationOptions): Promise<ProviderSnapshot> {
    if (kind === 'memory') return Promise.reject(new Unsupported('bubblewrap cannot snapshot memory; take a snapshot of its files, or use Podman, which can'));
    return within('Taking the snapshot', options, SNAPSHOT_TIMEOUT_MS, async (signal) => {
      const { launch, snapshots, info, started } = this.parts;
      if (this.over) throw new SandboxLost('the sandbox has ended');
      const parts = layerParts(started.target.ability, launch.source);
      const { work } = launch;
      if (!launch.build || work === undefined) {
        const still = new StandStill(started.target.gate, this.commands.joinedPids);
        return snapshots.add(launch.source, info.labels.owner, (layer) => still.during(() => this.copyParts(parts, layer, signal), signal), signal);
      }
      await this.commands.killAll(signal);
      this.taking = started.ended.then(() =>
        snapshots.add(
          launch.source,
          info.labels.owner,
          async (layer) => {
            await mkdir(layer);
            for (const [upper, name] of parts) await rename(join(work, upper), join(layer, name));
          },
          signal,
        ),
      );
      this.kill();
      return this.taking;
    });
  }

  terminate(options?: OperationOptions): Promise<void> {
    return within('Ending the sandbox', options, TERMINATE_TIMEOUT_MS, async () => {
      this.kill();
      await this.released;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.terminate();
  }

  /** With the first process all others of its namespace die, and bubblewrap's monitor ends when the kernel has seen to that. */
  private kill(): void {
    if (this.over) return;
    const { started } = this.parts;
    this.commands.end();
    this.network.end();
    this.parts.outlet?.close();
    kill(started.target.gate);
    const impatience = setTimeout(() => kill(started.target.launcher), PATIENCE_MS);
    void started.ended.then(() => clearTimeout(impatience));
  }

  private async end(): Promise<void> {
    this.over = true;
    clearTimeout(this.timer);
    this.commands.end();
    this.network.end();
    this.parts.outlet?.close();
    await this.taking?.catch(() => undefined);
    await this.parts.takeBack();
  }

  /** Runs what reads of a sandbox what is not there any more once it has ended. */
  private async alive<T>(work: () => Promise<T>): Promise<T> {
    if (this.over) throw new SandboxLost('the sandbox has ended');
    return work().catch((error: unknown) => {
      throw this.over ? new SandboxLost('the sandbox has ended', { cause: error }) : error;
    });
  }

  private async copyParts(parts: readonly (readonly [upper: string, layer: string])[], layer: string, signal: AbortSignal): Promise<void> {
    const { started, stateDir } = this.parts;
    const { host } = started.target.ability;
    await mkdir(layer);
    for (const [upper, name] of parts) {
      const { code, stderr } = await runBeside(started.target, [host.cp, '-a', '-T', '--', join(mountFolder(stateDir), 'fs', upper), join(layer, name)], signal);
      if (this.over) throw new SandboxLost('the sandbox has ended');
      if (code !== 0) throw diskFailure('the snapshot cannot be written', stderr);
    }
  }
}
