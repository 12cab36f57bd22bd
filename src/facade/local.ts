/** The sandboxes of this machine, as an account that clients of a vendor's protocol can use. */
import { availableParallelism, totalmem } from 'node:os';
import type { Engine } from '../engine/engine.js';
import { reap } from '../engine/reap.js';
import type { Held, Making } from '../engine/sandboxes/held.js';
import { forkSandboxes, makingOf, restore } from '../engine/sandboxes/open.js';
import { deleteSnapshot, removeForgotten } from '../engine/snapshots/manage.js';
import { takeSnapshot } from '../engine/snapshots/take.js';
import { SnapshotInUse } from '../engine/snapshots/uses.js';
import { BuildFailed, LimitExceeded, ProviderUnavailable, Unsupported } from '../sandbox/errors.js';
import type { SandboxSettings, SnapshotKind } from '../sandbox/provider.js';
import { PROVIDERS } from '../sandbox/registry.js';
import type { SnapshotRecord } from '../store/records.js';
import { TemplateError, type Template } from '../template/template.js';
import { templateOf } from './built.js';
import type { Inherited } from './e2b/processes.js';
import { Machine, Refusal, type Account, type NewSandbox, type SnapshotInfo, type TemplateBuild, type TemplateInfo } from './e2b/machine.js';
import { Templates, type Found } from './templates.js';

/** What the service does and is not done here, by the name that the protocol has for it. */
const NOT_HERE = ['network', 'volumeMounts', 'mcp', 'iam', 'secrets', 'autoResume'] as const;

export interface LocalOptions {
  /** The one for all sandboxes, in place of what templates say. */
  readonly provider?: string;
  readonly log: (line: string) => void;
}

export class LocalAccount implements Account {
  /** As long as anybody's plan allows. */
  readonly longestLifeS = 24 * 3600;
  readonly live = new Map<string, Machine>();
  private readonly held = new Map<string, Held>();
  /** Of those that are paused. */
  private readonly asleep = new Map<string, { readonly record: SnapshotRecord; readonly making: Making; readonly processes: readonly Inherited[] }>();
  /** Sandboxes by the snapshots that were taken of them, and what ran in them then. */
  private readonly taken = new Map<string, { readonly sandboxID: string; readonly processes: readonly Inherited[] }>();
  /** Why memory cannot be snapshotted here, by provider. */
  private readonly noMemory = new Map<string, string>();
  private readonly templates: Templates;

  constructor(
    private readonly engine: Engine,
    private readonly options: LocalOptions,
  ) {
    this.templates = new Templates(engine);
  }

  /** Ends what earlier processes have left, and says whether there is anything to work with. Rejects with `ProviderUnavailable`. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { provider } = this.options;
    const entries = PROVIDERS.filter(({ id, remote }) => !remote && (provider === undefined || provider === 'auto' || id === provider));
    if (entries.length === 0) throw new ProviderUnavailable(`"${provider}" has no sandboxes on this machine`, `those that have are ${PROVIDERS.filter(({ remote }) => !remote).map(({ id }) => id).join(', ')}`);
    const checked = await Promise.all(entries.map(async ({ id, title }) => ({ id, title, health: await this.engine.providers.check(id, signal) })));
    const answering = await Promise.all(checked.filter(({ health }) => health.ok).map(({ id }) => this.engine.providers.get(id)));
    if (answering.length === 0) throw new ProviderUnavailable(checked.map(({ title, health }) => `${title} cannot be used: ${health.summary}`).join('; '), checked[0]!.health.hint ?? 'run `rl-sandboxes doctor`');
    for (const ended of await reap(answering)) this.options.log(`ended ${ended.provider}'s sandbox ${ended.id}, which a process had left`);
    for (const each of answering) await removeForgotten(this.engine, each);
    for (const { id, health } of checked) if (health.noMemorySnapshots !== undefined) this.noMemory.set(id, health.noMemorySnapshots);
  }

  async template(name: string): Promise<TemplateInfo | undefined> {
    const found = await this.templates.find(name);
    if (!found) return undefined;
    return 'snapshot' in found ? infoOf(found.snapshot.id, found.snapshot.settings) : infoOf(found.template.name, found.template);
  }

  async create(asked: NewSandbox, gone: AbortSignal): Promise<Machine> {
    const refused = NOT_HERE.find((name) => asked[name] !== undefined && asked[name] !== null);
    if (refused !== undefined) throw new Refusal(501, `sandboxes of this machine have no \`${refused}\``);
    if (asked.autoPause === true) throw new Refusal(501, 'a sandbox of this machine is ended when its time is over: it cannot be paused then');
    const found = await this.templates.find(asked.templateID);
    if (!found) throw new Refusal(404, `template '${asked.templateID}' not found: there is no template or snapshot of that name in ${this.engine.layout.root}`);
    return this.translated(async () => {
      const { services, ...making } = await this.making(found);
      // What a client asks for in so many words counts more than what the template says.
      const network = asked.allow_internet_access === undefined || asked.allow_internet_access === null ? making.spec.network : asked.allow_internet_access ? 'full' : 'none';
      const held = await restore(this.engine, { ...making, spec: { ...making.spec, network } }, services, -1, AbortSignal.any([gone, this.engine.held.closing]));
      return this.adopt(held, asked, asked.templateID, this.taken.get(making.snapshot.id)?.processes);
    });
  }

  async kill(machine: Machine): Promise<void> {
    const { sandboxID } = machine;
    this.live.delete(sandboxID);
    machine.stopClock();
    const asleep = this.asleep.get(sandboxID);
    this.asleep.delete(sandboxID);
    await this.held.get(sandboxID)?.terminate();
    this.held.delete(sandboxID);
    if (asleep) await this.engine.builds.remove(asleep.record, asleep.making.provider);
  }

  /** Where processes can be put on disk in the same sandbox, that is done; where they can be copied, it ends with that. */
  async pause(machine: Machine, memory: boolean): Promise<void> {
    const held = this.running(machine);
    const { making, sandbox } = held;
    const { capabilities, title } = making.provider;
    await this.translated(async () => {
      if (memory && this.kindOf(making) === 'filesystem') {
        if (!capabilities.suspend) throw new Unsupported(`${title} cannot keep what runs in a sandbox${this.whyNoMemory(making)}: pause with keepMemory: false, which keeps its files`);
        await held.suspend(this.engine.held.closing);
      } else {
        const processes = memory ? await machine.processes.all() : [];
        const record = await takeSnapshot(this.engine, sandbox, making, memory ? 'memory' : 'filesystem', { temporary: this.engine.owner }, this.engine.held.closing);
        this.asleep.set(machine.sandboxID, { record, making, processes });
        this.held.delete(machine.sandboxID);
        await held.terminate();
      }
      machine.stopClock();
      machine.state = 'paused';
    });
  }

  async resume(machine: Machine): Promise<void> {
    const suspended = this.held.get(machine.sandboxID);
    if (suspended?.sandbox.info.state === 'suspended') {
      await this.translated(() => suspended.resume(this.engine.held.closing));
      machine.state = 'running';
      return;
    }
    const asleep = this.asleep.get(machine.sandboxID);
    if (!asleep) throw new Refusal(409, 'the sandbox is about to go on');
    this.asleep.delete(machine.sandboxID);
    const { record, making, processes } = asleep;
    let awake = false;
    const cleanUp = async (): Promise<void> => {
      if (awake) await this.engine.builds.remove(record, making.provider).catch(() => undefined);
    };
    try {
      const held = await this.translated(() => restore(this.engine, { ...making, snapshot: record, cleanUp }, [], -1, this.engine.held.closing));
      awake = true;
      machine.sandbox = held.sandbox;
      machine.processes.inherit(processes);
      machine.state = 'running';
      this.follow(machine, held);
    } finally {
      if (!awake) this.asleep.set(machine.sandboxID, asleep);
    }
  }

  fork(machine: Machine, count: number, timeout: number): Promise<PromiseSettledResult<Machine>[]> {
    const { id, making } = this.running(machine);
    return this.translated(async () => {
      const kind = this.kindOf(making);
      const processes = kind === 'memory' ? await machine.processes.all() : [];
      const forks = await forkSandboxes(this.engine, id, { kind, count, keepMs: -1 }, this.engine.held.closing);
      const adopted = (fork: PromiseSettledResult<Held>): Promise<Machine> =>
        this.translated(() => (fork.status === 'fulfilled' ? Promise.resolve(this.adopt(fork.value, { ...machine.asked, timeout }, machine.template.templateID, processes)) : Promise.reject(fork.reason as Error)));
      return Promise.allSettled(forks.map(adopted));
    });
  }

  snapshot(machine: Machine, name: string | undefined): Promise<SnapshotInfo> {
    const { sandbox, making } = this.running(machine);
    return this.translated(async () => {
      const kind = this.kindOf(making);
      const processes = kind === 'memory' ? await machine.processes.all() : [];
      const record = await takeSnapshot(this.engine, sandbox, making, kind, { name }, this.engine.held.closing);
      this.taken.set(record.id, { sandboxID: machine.sandboxID, processes });
      return snapshotInfo(record);
    });
  }

  /** Of snapshots and forks of a sandbox: with its memory where that can be kept, and holds no secrets. */
  private kindOf({ provider, secrets }: Making): SnapshotKind {
    return provider.capabilities.memorySnapshot && !this.noMemory.has(provider.id) && Object.keys(secrets).length === 0 ? 'memory' : 'filesystem';
  }

  private whyNoMemory({ provider, secrets }: Making): string {
    if (Object.keys(secrets).length > 0) return ' that was given secrets';
    const reason = this.noMemory.get(provider.id);
    return reason === undefined ? '' : ` (${reason})`;
  }

  async snapshots(sandboxID: string | undefined): Promise<SnapshotInfo[]> {
    const all = await this.engine.snapshots.list();
    return all.filter(({ id, origin }) => origin === 'sandbox' && (sandboxID === undefined || this.taken.get(id)?.sandboxID === sandboxID)).map(snapshotInfo);
  }

  async removeTemplate(name: string): Promise<boolean> {
    const found = await this.templates.find(name);
    if (!found) return false;
    if (!('snapshot' in found)) throw new Refusal(400, `${name} is the file ${found.template.file}: delete that`);
    try {
      await deleteSnapshot(this.engine, found.snapshot.id);
      this.taken.delete(found.snapshot.id);
      return true;
    } catch (error) {
      throw error instanceof SnapshotInUse ? new Refusal(409, error.message) : error;
    }
  }

  async newTemplate(name: string, { cpuCount, memoryMB }: { readonly cpuCount?: number; readonly memoryMB?: number }): Promise<TemplateInfo> {
    const there = await this.templates.find(name);
    if (there && !('template' in there && this.templates.isOwn(there.template))) throw new Refusal(409, `${name} is ${'template' in there ? `the file ${there.template.file}` : 'a snapshot'}: choose another name`);
    return { ...infoOf(name, { resources: {} }), ...(cpuCount && { cpuCount }), ...(memoryMB && { memoryMB }) };
  }

  async build({ templateID, cpuCount, memoryMB }: TemplateInfo, asked: TemplateBuild, log: (line: string) => void): Promise<void> {
    const template = await this.templates.write(templateOf(templateID, { cpuCount, memoryMB }, asked));
    await this.translated(() => this.made(template, log));
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.values()].map((machine) => this.kill(machine)));
  }

  private async making(found: Found): ReturnType<typeof makingOf> {
    if ('snapshot' in found) {
      const provider = await this.engine.providers.get(found.snapshot.provider);
      return makingOf(this.engine, found.snapshot, provider);
    }
    const { snapshot, choice } = await this.made(found.template, (line) => this.options.log(`${found.template.name}: ${line}`));
    return makingOf(this.engine, snapshot, choice.provider);
  }

  /** The build of a template, which goes on when whoever asked for it does not wait: the next one who asks has it. */
  private made({ file, name, provider }: Template, log: (line: string) => void): ReturnType<Engine['build']> {
    const asked = this.options.provider ?? provider;
    if (PROVIDERS.some(({ id, remote }) => id === asked && remote)) throw new Refusal(400, `the template ${name} is for ${asked}, which has no sandboxes on this machine`);
    return this.engine.build(file, { provider: this.options.provider, signal: this.engine.held.closing, onOutput: lines(log) });
  }

  private adopt(held: Held, asked: NewSandbox, templateID: string, processes: readonly Inherited[] = []): Machine {
    const machine: Machine = new Machine(held.sandbox, infoOf(templateID, held.making.spec), asked, () => void this.kill(machine).catch((error: Error) => this.options.log(error.message)));
    machine.processes.inherit(processes);
    this.live.set(machine.sandboxID, machine);
    this.follow(machine, held);
    return machine;
  }

  /** Whoever ends the sandbox, the machine is gone with it. */
  private follow(machine: Machine, held: Held): void {
    this.held.set(machine.sandboxID, held);
    const over = (): void => {
      if (this.held.get(machine.sandboxID) === held) void this.kill(machine).catch((error: Error) => this.options.log(error.message));
    };
    if (held.ended.aborted) over();
    else held.ended.addEventListener('abort', over, { once: true });
  }

  private running(machine: Machine): Held {
    const held = this.held.get(machine.sandboxID);
    if (!held || machine.state === 'paused') throw new Refusal(400, 'the sandbox is paused: connect to it first');
    return held;
  }

  /** What is the client's to mend is told as that. */
  private async translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal || !(error instanceof Error)) throw error;
      const message = error instanceof BuildFailed && error.output ? `${error.message}\n${error.output}` : error.message;
      if (error instanceof TemplateError || error instanceof BuildFailed) throw new Refusal(400, message);
      if (error instanceof Unsupported) throw new Refusal(501, message);
      if (error instanceof LimitExceeded) throw new Refusal(429, message);
      if (error instanceof ProviderUnavailable) throw new Refusal(503, `${message}; ${error.hint}`);
      throw error;
    }
  }
}

const snapshotInfo = ({ id, name }: SnapshotRecord): SnapshotInfo => ({ snapshotID: id, names: name === undefined ? [] : [name] });

function infoOf(templateID: string, settings: Pick<SandboxSettings, 'resources' | 'user'> | undefined): TemplateInfo {
  const { cpu, memory } = settings?.resources ?? {};
  return { templateID, cpuCount: Math.max(1, Math.ceil(cpu ?? availableParallelism())), memoryMB: Math.floor((memory ?? totalmem()) / 2 ** 20), user: settings?.user?.split(':')[0] };
}

/** Calls `take` with each whole line. */
function lines(take: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const all = (rest + text).split('\n');
    rest = all.pop()!;
    for (const line of all) take(line);
  };
}
