/** A sandbox as clients of the protocol see it, and what whoever keeps sandboxes must be able to do. */
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { Sandbox, SandboxStats } from '../../sandbox/provider.js';
import { Processes } from './processes.js';

/** An answer of the control plane that is no success. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Seconds. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

const words = z.record(z.string(), z.string());
const seconds = z.int('timeout must be a whole number of seconds').min(0, 'timeout must be a whole number of seconds');

/** What a creation asks for. What else the protocol knows is in the object too, for whoever must refuse it. */
export const newSandbox = z.looseObject({
  templateID: z.string(),
  metadata: words.nullish(),
  /** Of all of its commands. */
  envVars: words.nullish(),
  timeout: seconds.default(300),
  allow_internet_access: z.boolean().nullish(),
});
export type NewSandbox = z.infer<typeof newSandbox>;

export const lifetime = z.looseObject({ timeout: seconds.default(300) });
export const connection = lifetime.extend({
  /** False: of what is paused only the files come back. */
  memory: z.boolean().nullish(),
});
export const forkRequest = z.looseObject({ timeout: seconds.default(300), count: z.int().min(1).max(100).default(1) });

export interface TemplateInfo {
  readonly templateID: string;
  readonly cpuCount: number;
  readonly memoryMB: number;
  /** Who commands run as, where that is not root. */
  readonly user?: string;
}

export interface SnapshotInfo {
  readonly snapshotID: string;
  readonly names: readonly string[];
}

/** As the SDK's builder sends it: `RUN`, `ENV`, `WORKDIR`, `USER`, `COPY`. */
export interface BuildStep {
  readonly type: string;
  readonly args?: readonly string[];
}

export interface TemplateBuild {
  readonly fromImage?: string;
  readonly fromTemplate?: string;
  readonly steps?: readonly BuildStep[];
  readonly startCmd?: string;
}

/** Whoever keeps the sandboxes. What it cannot do it rejects with a `Refusal`. */
export interface Account {
  /** Longest life that may be asked for, seconds. */
  readonly longestLifeS: number;
  readonly live: ReadonlyMap<string, Machine>;
  /** By id or name. */
  template(name: string): Promise<TemplateInfo | undefined>;
  /** `gone` aborts when nobody waits for it any more. */
  create(asked: NewSandbox, gone: AbortSignal): Promise<Machine>;
  /** Resolves when nothing of it is left. */
  kill(machine: Machine): Promise<void>;
  pause(machine: Machine, memory: boolean): Promise<void>;
  resume(machine: Machine): Promise<void>;
  fork(machine: Machine, count: number, timeoutS: number): Promise<PromiseSettledResult<Machine>[]>;
  snapshot(machine: Machine, name: string | undefined): Promise<SnapshotInfo>;
  /** All, or those of one sandbox. */
  snapshots(sandboxID: string | undefined): Promise<SnapshotInfo[]>;
  /** False if there is none. */
  removeTemplate(name: string): Promise<boolean>;
  /** One to build, or the one of that name. */
  newTemplate(name: string, size: { readonly cpuCount?: number; readonly memoryMB?: number }): Promise<TemplateInfo>;
  /** Rejects with what the step said that failed. */
  build(template: TemplateInfo, build: TemplateBuild, log: (line: string) => void): Promise<void>;
}

export class Machine {
  readonly sandboxID = newId();
  readonly envdAccessToken = randomBytes(16).toString('hex');
  readonly startedAt = Date.now();
  readonly processes: Processes;
  endAt = 0;
  state: 'running' | 'paused' = 'running';
  private timer?: NodeJS.Timeout;
  private home?: Promise<string>;
  private measured: { readonly at: number; readonly cpuMs: number } = { at: performance.now(), cpuMs: 0 };

  constructor(
    public sandbox: Sandbox,
    readonly template: TemplateInfo,
    readonly asked: NewSandbox,
    private readonly onTimeout: () => void,
  ) {
    this.processes = new Processes(() => this.sandbox, asked.envVars ?? {});
    this.setTimeout(asked.timeout);
  }

  /** Seconds from now to its end. */
  setTimeout(timeoutS: number): void {
    clearTimeout(this.timer);
    this.endAt = Date.now() + timeoutS * 1000;
    this.timer = setTimeout(this.onTimeout, timeoutS * 1000);
  }

  stopClock(): void {
    clearTimeout(this.timer);
  }

  /** As if it had been started anew from its files. */
  async restart(): Promise<void> {
    this.processes.inherit([]);
    await this.sandbox.killAll();
  }

  /** The folder that paths without a `/` at their beginning are relative to. */
  folder(): Promise<string> {
    this.home ??= this.ask('pwd').catch((error: Error) => {
      this.home = undefined;
      throw error;
    });
    return this.home;
  }

  /** `cpu` in percent of one core since it was last asked. */
  async usage(): Promise<SandboxStats & { readonly cpu: number }> {
    const stats = await this.sandbox.stats();
    const at = performance.now();
    const cpu = Math.max(0, ((stats.cpuMs - this.measured.cpuMs) / (at - this.measured.at)) * 100);
    this.measured = { at, cpuMs: stats.cpuMs };
    return { ...stats, cpu };
  }

  private async ask(script: string): Promise<string> {
    const child = this.sandbox.exec(['/bin/sh', '-c', script]);
    child.stderr.resume();
    const [said] = await Promise.all([buffer(child.stdout), child.exit]);
    return said.toString().trimEnd();
  }
}

/** As long as the service's own; nobody guesses one, so that it may be part of a public address. */
export const newId = (): string => `i${randomBytes(12).toString('hex').slice(0, 19)}`;
