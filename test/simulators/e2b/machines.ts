/** Templates, snapshots and sandboxes of a simulated account. They are real ones, of this machine: whatever image a template names, it is the host's. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Machine, Refusal, type Account, type NewSandbox, type SnapshotInfo, type TemplateBuild, type TemplateInfo } from '../../../src/facade/e2b/machine.js';
import type { Inherited } from '../../../src/facade/e2b/processes.js';
import type { ProviderSnapshot, Sandbox } from '../../../src/sandbox/provider.js';
import type { Faults } from '../faults.js';
import { specOf, type Host } from '../host.js';
import type { Fault } from './faults.js';

const SLOW_MS = 2000;

export interface Quota {
  /** Sandboxes at once; all others are refused with 429. */
  readonly concurrent: number;
  /** Creations in a second; all others are refused with 429 and Retry-After. */
  readonly creationsPerSecond: number;
}

interface Template extends TemplateInfo {
  readonly names: readonly string[];
  /** Absent: the bare root. */
  snapshot?: ProviderSnapshot;
  /** Sandbox that it was taken of, of a snapshot, and what ran in that. */
  readonly sandboxID?: string;
  readonly processes?: readonly Inherited[];
}

class Simulated extends Machine {
  declare readonly template: Template;
  /** Answers nothing, although it is listed. */
  zombie = false;
  /** What it was restored from after it was paused. */
  readonly below: ProviderSnapshot[] = [];
  /** What it will be. */
  asleep?: { readonly snapshot: ProviderSnapshot; readonly processes: readonly Inherited[] };
}

export class Machines implements Account {
  /** Of the smallest plan. */
  readonly longestLifeS = 3600;
  readonly live = new Map<string, Simulated>();
  readonly templates = new Map<string, Template>([['base', { templateID: 'base', names: ['base'], cpuCount: 2, memoryMB: 512 }]]);
  private readonly creations: number[] = [];
  private creating = 0;

  constructor(
    private readonly host: Host,
    private readonly quota: Quota,
    private readonly faults: () => Faults<Fault>,
  ) {}

  template(name: string): Promise<Template | undefined> {
    return Promise.resolve(this.templates.get(name) ?? [...this.templates.values()].find(({ names }) => names.includes(name)));
  }

  private addTemplate(names: readonly string[], { cpuCount = 2, memoryMB = 512, ...more }: Partial<Template>): Template {
    const template = { templateID: randomBytes(10).toString('hex'), names, cpuCount, memoryMB, ...more };
    this.templates.set(template.templateID, template);
    return template;
  }

  async newTemplate(name: string, size: Partial<TemplateInfo>): Promise<Template> {
    return (await this.template(name)) ?? this.addTemplate([name], size);
  }

  async removeTemplate(name: string): Promise<boolean> {
    const template = await this.template(name);
    if (!template || template.templateID === 'base') return false;
    this.templates.delete(template.templateID);
    if (template.snapshot) await this.host.provider.removeSnapshot(template.snapshot);
    return true;
  }

  /** Runs the steps of a build one after the other in one sandbox. */
  async build({ templateID }: TemplateInfo, { steps = [] }: TemplateBuild, log: (line: string) => void): Promise<void> {
    if (steps.length === 0) return;
    const sandbox = await this.host.provider.create(this.host.base, await specOf({}, {}, 'full'));
    try {
      const env: Record<string, string> = {};
      let cwd = '/root';
      for (const [index, { type, args = [] }] of steps.entries()) {
        log(`[builder ${index + 1}/${steps.length}] ${type} ${args.join(' ')}`);
        if (type === 'ENV') for (let at = 0; at + 1 < args.length; at += 2) env[args[at]!] = args[at + 1]!;
        else if (type === 'WORKDIR') await sandbox.files.mkdir((cwd = args[0]!));
        else if (type === 'RUN') {
          const child = sandbox.exec(['/bin/sh', '-c', args[0]!], { env, cwd });
          const [{ code }, output, errors] = await Promise.all([child.exit, child.stdout.toArray(), child.stderr.toArray()]);
          for (const line of Buffer.concat([output, errors].flat() as Buffer[]).toString().split('\n')) if (line) log(line);
          if (code !== 0) throw new Error(`failed to run command '${args[0]}': exit status ${code}`);
        } else if (type !== 'USER') throw new Error(`the simulator has no build step ${type}`);
      }
      this.templates.get(templateID)!.snapshot = await sandbox.snapshot('filesystem');
    } finally {
      await sandbox.terminate();
    }
  }

  async create(asked: NewSandbox): Promise<Machine> {
    const now = Date.now();
    while (this.creations.length > 0 && this.creations[0]! <= now - 1000) this.creations.shift();
    if (this.creations.length >= this.quota.creationsPerSecond) throw new Refusal(429, 'you have exceeded the rate of sandbox creations', 1);
    if (this.live.size + this.creating >= this.quota.concurrent) throw new Refusal(429, `you have reached the maximum number of concurrent E2B sandboxes (${this.quota.concurrent})`);
    const template = await this.template(asked.templateID);
    if (!template) throw new Refusal(404, `template '${asked.templateID}' not found`);
    this.creations.push(now);
    this.creating += 1;
    try {
      if (this.faults().strikes('slowCreate')) await pause(SLOW_MS);
      const machine = await this.open(template, asked);
      machine.zombie = this.faults().strikes('zombie');
      return machine;
    } finally {
      this.creating -= 1;
    }
  }

  private async open(template: Template, asked: NewSandbox): Promise<Simulated> {
    const spec = await specOf({}, { cpu: template.cpuCount, memory: template.memoryMB << 20 }, asked.allow_internet_access === false ? 'none' : 'full');
    const sandbox = template.snapshot && !this.faults().strikes('coldStart') ? await this.host.provider.restore(template.snapshot, spec) : await this.host.provider.create(this.host.base, spec);
    const machine: Simulated = new Simulated(sandbox, template, asked, () => void this.kill(machine));
    machine.processes.inherit(template.processes ?? []);
    this.live.set(machine.sandboxID, machine);
    return machine;
  }

  async kill({ sandboxID }: Machine): Promise<void> {
    const machine = this.live.get(sandboxID);
    if (!machine) return;
    this.live.delete(sandboxID);
    machine.stopClock();
    await machine.sandbox.terminate();
    for (const snapshot of [...machine.below, ...(machine.asleep ? [machine.asleep.snapshot] : [])]) await this.host.provider.removeSnapshot(snapshot);
  }

  /** One snapshot for all, as the service does it. */
  async fork(machine: Machine, count: number, timeout: number): Promise<PromiseSettledResult<Machine>[]> {
    const { snapshotID } = await this.snapshot(machine, undefined);
    const template = this.templates.get(snapshotID)!;
    try {
      return await Promise.allSettled(Array.from({ length: count }, () => this.open(template, { ...machine.asked, templateID: snapshotID, timeout })));
    } finally {
      if (this.memory) await this.removeTemplate(snapshotID);
    }
  }

  /** A sandbox that ends with it goes on as a copy. */
  async snapshot({ sandboxID }: Machine, name: string | undefined): Promise<SnapshotInfo> {
    const machine = this.live.get(sandboxID)!;
    const { snapshot, processes } = await this.taken(machine, this.memory);
    if (this.host.baseEnds && !machine.template.snapshot && !machine.asleep) machine.sandbox = await this.again(machine, snapshot);
    const { cpuCount, memoryMB } = machine.template;
    return snapshotInfo(this.addTemplate(name === undefined ? [] : [name], { cpuCount, memoryMB, snapshot, processes, sandboxID }));
  }

  snapshots(of: string | undefined): Promise<SnapshotInfo[]> {
    return Promise.resolve([...this.templates.values()].filter(({ sandboxID }) => sandboxID !== undefined && (of === undefined || of === sandboxID)).map(snapshotInfo));
  }

  async pause({ sandboxID }: Machine, memory: boolean): Promise<void> {
    const machine = this.live.get(sandboxID)!;
    const stopped = memory && !this.memory;
    const taken = stopped ? undefined : await this.taken(machine, memory);
    machine.state = 'paused';
    machine.stopClock();
    if (!taken) return signalAll(machine.sandbox, 'STOP');
    machine.asleep = taken;
    await machine.sandbox.terminate();
  }

  async resume({ sandboxID }: Machine): Promise<void> {
    const machine = this.live.get(sandboxID)!;
    if (machine.asleep) {
      const { snapshot, processes } = machine.asleep;
      machine.sandbox = await this.again(machine, snapshot);
      machine.processes.inherit(processes);
      machine.asleep = undefined;
      machine.below.push(snapshot);
    } else await signalAll(machine.sandbox, 'CONT');
    machine.state = 'running';
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.values()].map((each) => this.kill(each)));
    await this.host.close();
  }

  /** Whether what runs can be copied; where it cannot, files are. */
  private get memory(): boolean {
    return this.host.provider.capabilities.memorySnapshot;
  }

  private async taken(machine: Simulated, memory: boolean): Promise<{ snapshot: ProviderSnapshot; processes: readonly Inherited[] }> {
    const processes = memory ? await machine.processes.all() : [];
    return { snapshot: await machine.sandbox.snapshot(memory ? 'memory' : 'filesystem'), processes };
  }

  private async again(machine: Machine, snapshot: ProviderSnapshot): Promise<Sandbox> {
    return this.host.provider.restore(snapshot, await specOf({}, {}, machine.asked.allow_internet_access === false ? 'none' : 'full'));
  }
}

const snapshotInfo = ({ templateID, names }: Template): SnapshotInfo => ({ snapshotID: templateID, names });

async function signalAll(sandbox: Sandbox, signal: string): Promise<void> {
  const child = sandbox.exec(['/bin/sh', '-c', `kill -s ${signal} -- -1`]);
  child.stdout.resume();
  child.stderr.resume();
  await child.exit;
}
