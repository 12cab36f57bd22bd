/** What the conformance suite works with: a provider, one snapshot made from its base, and sandboxes that are ended after each test. */
import { strict as assert } from 'node:assert';
import { buffer, text } from 'node:stream/consumers';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { BaseImage, ExecOptions, Provider, ProviderContext, ProviderSnapshot, Resources, Sandbox, SandboxSpec } from '../../../src/sandbox/provider.js';

export interface Subject {
  readonly provider: Provider;
  /** A base with `sh`, coreutils, `find`, `tar` and `setsid`. */
  readonly base: BaseImage;
  /** What the provider was opened with, so that another process can open the same. */
  readonly context: Pick<ProviderContext, 'stateDir'>;
  /** Sandboxes of the test that makes many at once; 32 unless told. */
  readonly parallel?: number;
  /** Of the test of restores at once; 200 unless told. */
  readonly restoresAtOnce?: number;
  /** Snapshots cannot be carried elsewhere. */
  readonly snapshotsStay?: true;
  /** Of the sandbox that is to end by itself: 1500 ms unless told. */
  readonly shortLifeMs?: number;
  /** Why tests that move tens of megabytes through the output of commands are left out. */
  readonly slow?: string;
  /** Why tests that move gigabytes are left out. */
  readonly small?: string;
  /** Why memory cannot be snapshotted here, of a provider that can elsewhere. */
  readonly noMemorySnapshots?: string;
  /** Fails if the machine still holds something of a sandbox that was terminated: processes, mounts, containers. */
  readonly assertNothingLeft?: (id: string) => Promise<void>;
  readonly close?: () => Promise<void>;
}

export interface Result {
  readonly code: number;
  readonly killedBy?: 'memory';
  readonly stdout: string;
  readonly stderr: string;
}

export class Bench {
  subject!: Subject;
  snapshot!: ProviderSnapshot;
  private readonly open = new Set<Sandbox>();

  get provider(): Provider {
    return this.subject.provider;
  }

  async start(subject: Subject): Promise<void> {
    this.subject = subject;
    const health = await this.provider.check();
    assert.ok(health.ok, `${health.summary}; ${health.hint}`);
    const sandbox = await this.create();
    const { code, stderr } = await run(sandbox, 'mkdir -p /srv/task && echo prepared > /srv/task/state && ln -s state /srv/task/link && chmod 751 /srv/task');
    assert.equal(code, 0, stderr);
    this.snapshot = await sandbox.snapshot('filesystem');
    await this.terminateAll();
  }

  async stop(): Promise<void> {
    if (!this.subject) return;
    await this.terminateAll();
    if (this.snapshot) await this.provider.removeSnapshot(this.snapshot);
    await this.provider.close();
    await this.subject.close?.();
  }

  async spec(overrides: Partial<SandboxSpec> = {}): Promise<SandboxSpec> {
    const labels = { owner: await currentOwner(), run: 'conformance', episode: 7, template: 'conformance', digest: 'sha256:0', expires: Date.now() + 600_000 };
    return { labels, resources: {}, env: {}, network: 'none', lifetimeMs: 600_000, ...overrides };
  }

  async create(overrides: Partial<SandboxSpec> = {}): Promise<Sandbox> {
    return this.keep(await this.provider.create(this.subject.base, await this.spec(overrides)));
  }

  async restore(overrides: Partial<SandboxSpec> = {}, snapshot = this.snapshot): Promise<Sandbox> {
    return this.keep(await this.provider.restore(snapshot, await this.spec(overrides)));
  }

  withResources(resources: Resources): Promise<Sandbox> {
    return this.restore({ resources });
  }

  async terminateAll(): Promise<void> {
    await Promise.all([...this.open].map((sandbox) => sandbox.terminate()));
    this.open.clear();
  }

  private keep(sandbox: Sandbox): Sandbox {
    this.open.add(sandbox);
    return sandbox;
  }
}

/** Runs a script or an argument vector and gathers what it says. */
export async function run(sandbox: Sandbox, command: string | readonly string[], options?: ExecOptions): Promise<Result> {
  const child = sandbox.exec(typeof command === 'string' ? ['sh', '-c', command] : command, options);
  const [status, stdout, stderr] = await Promise.all([child.exit, text(child.stdout), text(child.stderr)]);
  return { ...status, stdout, stderr };
}

/** Standard output of a script that must succeed. */
export async function output(sandbox: Sandbox, command: string | readonly string[], options?: ExecOptions): Promise<string> {
  const { code, stdout, stderr } = await run(sandbox, command, options);
  assert.equal(code, 0, `${String(command)}\n${stderr}`);
  return stdout;
}

export async function bytes(sandbox: Sandbox, command: string): Promise<Buffer> {
  const child = sandbox.exec(['sh', '-c', command]);
  const [status, stdout] = await Promise.all([child.exit, buffer(child.stdout), text(child.stderr)]);
  assert.equal(status.code, 0);
  return stdout;
}

/** Lets both streams of a command run off, for a test that wants only how it ends. */
export function ignoreOutput(child: { readonly stdout: NodeJS.ReadableStream; readonly stderr: NodeJS.ReadableStream }): void {
  child.stdout.resume();
  child.stderr.resume();
}

/** Command lines of all processes that a sandbox sees, but for the shell that looks. */
export async function commandLines(sandbox: Sandbox): Promise<string[]> {
  const listing = await output(sandbox, 'for f in /proc/[0-9]*; do [ "$f" = "/proc/$$" ] || { tr "\\0" " " < "$f/cmdline"; echo; }; done 2>/dev/null; true');
  return listing.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('tr '));
}

/** Resolves when `probe` gives true; asks again until then. */
export async function until(probe: () => Promise<boolean>, what: string, timeoutMs = 30_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await probe())) {
    if (Date.now() > deadline) assert.fail(`waited ${timeoutMs / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
