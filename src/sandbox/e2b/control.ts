/** The control plane by the vendor's SDK, which is loaded on first use: what there is, its end, snapshots, images. Creation is in `creation.ts`. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type * as E2b from 'e2b';
import { BuildFailed, SandboxError, Unsupported } from '../errors.js';
import type { Resources } from '../provider.js';
import type { Account } from './account.js';
import { statusOf, translate } from './failures.js';
import { ID, OURS } from './labels.js';

type Sdk = typeof E2b;
export type Listed = Awaited<ReturnType<ReturnType<Sdk['Sandbox']['list']>['nextItems']>>[number];

/** The template that is there for everyone: a Debian with the usual programs. */
export const DEFAULT_TEMPLATE = 'base';
/** Of that one. */
export const DEFAULT_MEMORY_MB = 512;
const DEFAULT_CPUS = 2;
const DEFAULT_IMAGE = 'e2bdev/base';

const PAGE = 100;
const MOST_PAGES = 200;
const ATTEMPTS = 5;
const FIRST_DELAY_MS = 200;
const LOOK_AGAIN_MS = 1000;

export interface Machine {
  readonly template: string;
  readonly memoryMB: number;
}

export class Control {
  private readonly options: { readonly apiKey: string; readonly domain: string; readonly apiUrl: string; readonly sandboxUrl?: string };

  constructor(account: Account) {
    this.options = account;
  }

  /** All of ours, or the one of ours by its id. */
  list(signal: AbortSignal, id?: string): Promise<Listed[]> {
    return this.listing(signal, id === undefined ? OURS : { [ID]: id });
  }

  /** All of ours, for somebody who waits for the answer: that the service refuses is told before the deadline, since the SDK does not wait as long as it says. */
  probe(signal: AbortSignal): Promise<Listed[]> {
    return this.listing(signal, OURS, { retries: 0 });
  }

  private listing(signal: AbortSignal, metadata: Record<string, string>, more: { readonly retries?: number } = {}): Promise<Listed[]> {
    return this.again('Listing sandboxes', signal, async ({ Sandbox }) => {
      const pages = Sandbox.list({ ...this.options, ...more, query: { metadata }, limit: PAGE });
      const found: Listed[] = [];
      for (let page = 0; pages.hasNext && page < MOST_PAGES; page++) found.push(...(await pages.nextItems({ signal })));
      return found;
    });
  }

  /** "Already gone" is a success. */
  async kill(sandboxId: string, signal: AbortSignal): Promise<void> {
    await this.again('Ending the sandbox', signal, ({ Sandbox }) => Sandbox.kill(sandboxId, { ...this.options, signal }));
  }

  /** Not asked for again by itself: an answer that was lost may have made one. */
  async snapshot(sandboxId: string, signal: AbortSignal): Promise<string> {
    try {
      const { Sandbox } = await load();
      return (await Sandbox.createSnapshot(sandboxId, { ...this.options, requestTimeoutMs: 0, signal })).snapshotId;
    } catch (error) {
      signal.throwIfAborted();
      throw translate(error, 'Taking the snapshot');
    }
  }

  /** With what runs. Resolves when it is paused. A request that is cut, or not answered, may have been heard, so how it went is looked at. */
  async pause(sandboxId: string, signal: AbortSignal): Promise<void> {
    const { Sandbox } = await load();
    try {
      await Sandbox.pause(sandboxId, { ...this.options, keepMemory: true, requestTimeoutMs: 0, signal });
    } catch (error) {
      for (let look = 1; look <= ATTEMPTS; look++) {
        const state = await Sandbox.getInfo(sandboxId, this.options).then((info) => info.state, () => undefined);
        if (state === 'paused') return;
        if (statusOf(error) !== undefined) break;
        await pause(LOOK_AGAIN_MS);
      }
      throw translate(error, 'Suspending the sandbox');
    }
  }

  hasSnapshot(snapshotId: string, signal: AbortSignal): Promise<boolean> {
    return this.again('Looking for the snapshot', signal, async ({ Sandbox }) => {
      const pages = Sandbox.listSnapshots({ ...this.options, limit: PAGE });
      for (let page = 0; pages.hasNext && page < MOST_PAGES; page++) if ((await pages.nextItems({ signal })).some((each) => each.snapshotId === snapshotId)) return true;
      return false;
    });
  }

  async removeSnapshot(snapshotId: string, signal: AbortSignal): Promise<void> {
    await this.again('Removing the snapshot', signal, ({ Sandbox }) => Sandbox.deleteSnapshot(snapshotId, { ...this.options, signal }));
  }

  /** The template for an image and the size of a machine, built if nobody has yet. */
  async machine(image: string | undefined, { cpu, memory }: Resources, signal: AbortSignal, onOutput: (line: string) => void): Promise<Machine> {
    if (image === undefined && cpu === undefined && memory === undefined) return { template: DEFAULT_TEMPLATE, memoryMB: DEFAULT_MEMORY_MB };
    const cpuCount = cpu === undefined ? DEFAULT_CPUS : Math.max(1, Math.ceil(cpu));
    // The service takes even numbers.
    const memoryMB = memory === undefined ? DEFAULT_MEMORY_MB : Math.max(DEFAULT_MEMORY_MB, Math.ceil(memory / 2 ** 21) * 2);
    const from = image ?? DEFAULT_IMAGE;
    const name = `rl-sandboxes-${createHash('sha256').update(JSON.stringify([from, cpuCount, memoryMB])).digest('hex').slice(0, 20)}`;
    if (!(await this.again('Looking for the template', signal, ({ Template }) => Template.exists(name, { ...this.options, signal })))) await this.build(name, from, cpuCount, memoryMB, signal, onOutput);
    return { template: name, memoryMB };
  }

  private async build(name: string, image: string, cpuCount: number, memoryMB: number, signal: AbortSignal, onOutput: (line: string) => void): Promise<void> {
    const { Template } = await load();
    try {
      await Template.build(Template().fromImage(image), name, { ...this.options, cpuCount, memoryMB, signal, onBuildLogs: ({ message }) => onOutput(`${message}\n`) });
    } catch (error) {
      signal.throwIfAborted();
      if ((error as Error).name === 'BuildError') throw new BuildFailed(`E2B could not make a template of the image ${image}: ${(error as Error).message}`, '', { cause: error });
      throw translate(error, 'Building the template');
    }
  }

  /** For what may be done twice. */
  private async again<T>(doing: string, signal: AbortSignal, work: (sdk: Sdk) => Promise<T>): Promise<T> {
    const sdk = await load();
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return await work(sdk);
      } catch (error) {
        signal.throwIfAborted();
        const status = statusOf(error);
        const failure = translate(error, doing);
        const passing = failure instanceof SandboxError && failure.retryable && (status === undefined || status === 429 || status >= 500);
        if (!passing || attempt === ATTEMPTS) throw failure;
        await pause(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2), undefined, { signal });
      }
    }
  }
}

let sdk: Promise<Sdk> | undefined;

function load(): Promise<Sdk> {
  sdk ??= import('e2b');
  return sdk.catch((error: Error) => {
    sdk = undefined;
    throw new Unsupported(`E2B's SDK does not run here: ${error.message}`, { cause: error });
  });
}
