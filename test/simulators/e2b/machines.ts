/** Templates, snapshots and sandboxes of a simulated account. They are real ones, of the bubblewrap provider: whatever image a template names, it is this machine's root. */
import { randomBytes } from 'node:crypto';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { Provider, ProviderSnapshot, Resources, Sandbox, SandboxSpec } from '../../../src/sandbox/provider.js';
import { Processes } from './processes.js';

const id = (): string => randomBytes(10).toString('hex');
/** The service counts the life of its sandboxes itself. */
const UNBOUNDED_MS = 86_400_000;

export interface Template {
  readonly templateID: string;
  readonly names: readonly string[];
  readonly cpuCount: number;
  readonly memoryMB: number;
  /** Absent: the bare root. */
  snapshot?: ProviderSnapshot;
  /** Sandbox that it was taken of, of a snapshot. */
  readonly sandboxID?: string;
}

export interface NewSandbox {
  readonly templateID: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly envVars?: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout?: number;
  readonly allow_internet_access?: boolean;
}

export class Machine {
  readonly sandboxID = id();
  readonly envdAccessToken = randomBytes(16).toString('hex');
  readonly startedAt = Date.now();
  readonly processes: Processes;
  endAt = 0;
  state: 'running' | 'paused' = 'running';
  /** Answers nothing, although it is listed. */
  zombie = false;
  /** Its memory was given up when it was paused. */
  asleep?: ProviderSnapshot;
  private timer?: NodeJS.Timeout;

  constructor(
    public sandbox: Sandbox,
    readonly template: Template,
    readonly asked: NewSandbox,
    private readonly onTimeout: () => void,
  ) {
    this.processes = new Processes(() => this.sandbox);
    this.setTimeout(asked.timeout ?? 300);
  }

  setTimeout(seconds: number): void {
    clearTimeout(this.timer);
    this.endAt = Date.now() + seconds * 1000;
    this.timer = setTimeout(this.onTimeout, seconds * 1000);
  }

  stopClock(): void {
    clearTimeout(this.timer);
  }
}

export class Machines {
  readonly live = new Map<string, Machine>();
  readonly templates = new Map<string, Template>([['base', { templateID: 'base', names: ['base'], cpuCount: 2, memoryMB: 512 }]]);

  constructor(private readonly provider: Provider) {}

  template(name: string): Template | undefined {
    return this.templates.get(name) ?? [...this.templates.values()].find(({ names }) => names.includes(name));
  }

  addTemplate(names: readonly string[], { cpuCount = 2, memoryMB = 512, snapshot, sandboxID }: Partial<Template>): Template {
    const template = { templateID: id(), names, cpuCount, memoryMB, snapshot, sandboxID };
    this.templates.set(template.templateID, template);
    return template;
  }

  async removeTemplate(templateID: string): Promise<boolean> {
    const template = this.template(templateID);
    if (!template || template.templateID === 'base') return false;
    this.templates.delete(template.templateID);
    if (template.snapshot) await this.provider.removeSnapshot(template.snapshot);
    return true;
  }

  /** Runs the steps of a build one after the other in one sandbox. Rejects with what the step said. */
  async build(template: Template, steps: readonly { readonly type: string; readonly args?: readonly string[] }[], log: (line: string) => void): Promise<void> {
    if (steps.length === 0) return;
    const sandbox = await this.provider.create({}, await this.spec({}, {}, 'full'));
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
      template.snapshot = await sandbox.snapshot('filesystem');
    } finally {
      await sandbox.terminate();
    }
  }

  async create(asked: NewSandbox): Promise<Machine | undefined> {
    const template = this.template(asked.templateID);
    if (!template) return undefined;
    const spec = await this.spec(asked.envVars ?? {}, { cpu: template.cpuCount, memory: template.memoryMB << 20 }, asked.allow_internet_access === false ? 'none' : 'full');
    const sandbox = template.snapshot ? await this.provider.restore(template.snapshot, spec) : await this.provider.create({}, spec);
    const machine: Machine = new Machine(sandbox, template, asked, () => void this.kill(machine.sandboxID));
    this.live.set(machine.sandboxID, machine);
    return machine;
  }

  async kill(sandboxID: string): Promise<boolean> {
    const machine = this.live.get(sandboxID);
    if (!machine) return false;
    this.live.delete(sandboxID);
    machine.stopClock();
    await machine.sandbox.terminate();
    return true;
  }

  /** What a bare root becomes a snapshot of ends with it here, so it goes on as a copy. */
  async snapshot(machine: Machine, names: readonly string[]): Promise<Template> {
    const snapshot = await machine.sandbox.snapshot('filesystem');
    if (!machine.template.snapshot && !machine.asleep) machine.sandbox = await this.again(machine, snapshot);
    const { cpuCount, memoryMB } = machine.template;
    return this.addTemplate(names, { cpuCount, memoryMB, snapshot, sandboxID: machine.sandboxID });
  }

  async pause(machine: Machine, memory: boolean): Promise<void> {
    machine.state = 'paused';
    machine.stopClock();
    if (memory) return signalAll(machine.sandbox, 'STOP');
    machine.asleep = await machine.sandbox.snapshot('filesystem');
    await machine.sandbox.terminate();
  }

  async resume(machine: Machine): Promise<void> {
    if (machine.asleep) machine.sandbox = await this.again(machine, machine.asleep);
    else await signalAll(machine.sandbox, 'CONT');
    machine.state = 'running';
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.keys()].map((each) => this.kill(each)));
    await this.provider.close();
  }

  private async again(machine: Machine, snapshot: ProviderSnapshot): Promise<Sandbox> {
    return this.provider.restore(snapshot, await this.spec(machine.asked.envVars ?? {}, {}, machine.asked.allow_internet_access === false ? 'none' : 'full'));
  }

  private async spec(env: Readonly<Record<string, string>>, resources: Resources, network: 'none' | 'full'): Promise<SandboxSpec> {
    const labels = { owner: await currentOwner(), run: 'simulator', expires: Date.now() + UNBOUNDED_MS };
    return { labels, resources, env, network, workdir: '/root', lifetimeMs: UNBOUNDED_MS };
  }
}

async function signalAll(sandbox: Sandbox, signal: string): Promise<void> {
  const child = sandbox.exec(['/bin/sh', '-c', `kill -s ${signal} -- -1`]);
  child.stdout.resume();
  child.stderr.resume();
  await child.exit;
}
