/**
 * The calls of Beam's REST gateway (`/api/v1/gateway`) that the provider makes.
 *
 * Not by the vendor's SDK, for what `test/beam/gaps.test.ts` shows of it: it has no list, loses the id of a sandbox whose creation was answered and that
 * did not become ready, cannot read an empty file, takes output for UTF-8, and knows one account for each process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../remote/failures.js';
import { ask, askBytes, send } from '../remote/wire.js';
import type { Account } from './account.js';
import { Incomplete, NotOk } from './failures.js';
import { dataIn, withData } from './inJson.js';

const ANSWER_MS = 60_000;
/** A snapshot, and a command that is waited for, say nothing until they are done. */
const SLOW_ANSWER_MS = 900_000;
const ATTEMPTS = 5;
const FIRST_DELAY_MS = 200;
/** Longest line of a build's output. */
const MOST_LINE = 1 << 20;

/** What kind of thing is at the service, as far as it is asked about. Numbers of 64 bits come as texts. */
export interface Container {
  readonly containerId: string;
  readonly stubId: string;
  readonly workspaceId: string;
  readonly status: string;
  /** RFC 3339, in whole seconds. */
  readonly scheduledAt?: string | null;
}

/** What a container is made of, as anyone of the account may have named it. */
export interface Stub {
  readonly name?: unknown;
  /** RFC 3339, finer than seconds. */
  readonly created_at?: unknown;
}

export interface StubConfig {
  readonly name: string;
  readonly imageId: string;
  /** Thousandths of a processor, MiB. */
  readonly cpu: number;
  readonly memory: number;
  readonly gpu: string;
  readonly gpuCount: number;
  readonly keepWarmSeconds: number;
  readonly blockNetwork: boolean;
}

export interface Ran {
  readonly pid: number;
  readonly done?: boolean;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

interface Answer {
  readonly ok?: boolean;
  readonly errorMsg?: string;
  readonly errMsg?: string;
}

export class Gateway {
  constructor(private readonly account: Account) {}

  containers(signal: AbortSignal): Promise<readonly Container[]> {
    return this.again(signal, async () => (await this.call<{ containers?: Container[] }>('GET', 'containers', undefined, signal)).containers ?? []);
  }

  /** "Already gone" is a success. */
  async stop(containerId: string, signal: AbortSignal): Promise<void> {
    await this.again(signal, () => this.call('POST', `containers/${encodeURIComponent(containerId)}/stop`, {}, signal)).catch((error: unknown) => {
      if (!(error instanceof NotOk && /not found/i.test(error.message)) && !(error instanceof Refused && error.status === 404)) throw error;
    });
  }

  /** A stub is what containers are made of; with `force_create` each call makes another one. */
  async stub({ name, imageId, cpu, memory, gpu, gpuCount, keepWarmSeconds, blockNetwork }: StubConfig, signal: AbortSignal): Promise<string> {
    const json = {
      object_id: '',
      image_id: imageId,
      stub_type: 'sandbox',
      name,
      app_name: 'rl-sandboxes',
      python_version: 'python3',
      ...{ cpu, memory, gpu, gpu_count: gpuCount },
      keep_warm_seconds: keepWarmSeconds,
      workers: 1,
      concurrent_requests: 1,
      max_pending_tasks: 100,
      force_create: true,
      authorized: true,
      autoscaler: { type: 'queue_depth', max_containers: 1, tasks_per_container: 1, min_containers: 0 },
      task_policy: { max_retries: 0, timeout: 0, ttl: 0 },
      entrypoint: ['tail', '-f', '/dev/null'],
      block_network: blockNetwork,
      ...{ volumes: [], secrets: [], env: [], ports: [] },
    };
    return (await this.call<{ stubId: string }>('POST', 'stubs', json, signal)).stubId;
  }

  /** Undefined if there is none. Beside the gateway's calls, of the same beta9 (`pkg/api/v1/stub.go`). */
  made({ workspaceId, stubId }: Container, signal: AbortSignal): Promise<Stub | undefined> {
    const url = `${this.account.gatewayUrl}/api/v1/stub/${encodeURIComponent(workspaceId)}/${encodeURIComponent(stubId)}`;
    return this.again(signal, () => ask<Stub | undefined>({ url, method: 'GET', headers: this.headers, signal, silenceMs: ANSWER_MS })).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    });
  }

  /** A container of a stub, or of a checkpoint, which is one of the stub that it was taken of. */
  async pod(of: { readonly stubId: string } | { readonly checkpointId: string }, signal: AbortSignal): Promise<string> {
    return (await this.call<{ containerId: string }>('POST', 'pods', of, signal)).containerId;
  }

  /** Resolves when the sandbox is there. */
  connect(containerId: string, signal: AbortSignal): Promise<unknown> {
    return this.call('POST', this.of(containerId, 'connect'), {}, signal, SLOW_ANSWER_MS);
  }

  /** Seconds from now on until the service ends it. */
  setLife(containerId: string, seconds: number, signal: AbortSignal): Promise<unknown> {
    return this.again(signal, () => this.call('POST', this.of(containerId, 'ttl'), { ttl: seconds }, signal));
  }

  exec(containerId: string, command: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Ran> {
    return this.call<Ran>('POST', this.of(containerId, 'exec'), { command, env, cwd: '/', wait: true }, signal);
  }

  async status(containerId: string, pid: number, signal: AbortSignal): Promise<number> {
    return (await this.call<{ exitCode?: number }>('GET', this.of(containerId, `status?pid=${pid}`), undefined, signal)).exitCode ?? -1;
  }

  async output(containerId: string, stream: 'stdout' | 'stderr', pid: number, signal: AbortSignal): Promise<string> {
    return (await this.call<{ stdout?: string; stderr?: string }>('GET', this.of(containerId, `${stream}?pid=${pid}`), undefined, signal))[stream] ?? '';
  }

  /** Replaces a file in a folder that is there. */
  upload(containerId: string, path: string, data: Buffer, signal: AbortSignal): Promise<unknown> {
    return this.again(signal, () => this.checked(ask<Answer>({ url: this.url(this.of(containerId, 'files/upload')), body: withData({ containerPath: path, mode: 0o600 }, data), headers: this.headers, signal, silenceMs: ANSWER_MS })));
  }

  async download(containerId: string, path: string, signal: AbortSignal): Promise<Buffer> {
    const { data, rest } = dataIn<Answer>(await askBytes({ url: this.url(this.of(containerId, `files/download/${encodeURIComponent(path)}`)), method: 'GET', headers: this.headers, signal, silenceMs: ANSWER_MS }));
    await this.checked(Promise.resolve(rest));
    return data;
  }

  /** Not asked for again by itself: an answer that was lost may have made one. */
  async imageOf(containerId: string, stubId: string, signal: AbortSignal): Promise<string> {
    return (await this.call<{ imageId: string }>('POST', this.of(containerId, 'create-image-from-filesystem'), { stubId }, signal, SLOW_ANSWER_MS)).imageId;
  }

  /** The same of a checkpoint, of memory and files. */
  async checkpointOf(containerId: string, stubId: string, signal: AbortSignal): Promise<string> {
    return (await this.call<{ checkpointId: string }>('POST', this.of(containerId, 'snapshot-memory'), { stubId }, signal, SLOW_ANSWER_MS)).checkpointId;
  }

  hasImage(imageId: string, signal: AbortSignal): Promise<boolean> {
    return this.again(signal, async () => (await this.call<{ exists?: boolean }>('POST', 'images/verify-build', { image_id: imageId }, signal)).exists === true);
  }

  /** The service's image for one of a registry, converted there if nobody has yet. Rejects with `NotOk` if it cannot be. */
  async image(reference: string, signal: AbortSignal, onOutput: (text: string) => void): Promise<string> {
    const json = { existing_image_uri: reference, python_version: 'python3', python_packages: [], commands: [], env_vars: [], ignore_python: true };
    const there = await this.again(signal, () => this.call<{ exists?: boolean; imageId?: string }>('POST', 'images/verify-build', { ...json, force_rebuild: false }, signal));
    if (there.exists && there.imageId) return there.imageId;
    const response = await send({ url: this.url('images/build'), body: Buffer.from(JSON.stringify(json)), headers: this.headers, signal, silenceMs: SLOW_ANSWER_MS });
    let held = '';
    for await (const chunk of response) {
      held += String(chunk);
      if (held.length > MOST_LINE) throw new Incomplete('a line of the build is too long');
      const lines = held.split('\n');
      held = lines.pop()!;
      for (const line of lines.filter((each) => each.trim() !== '')) {
        const { result } = JSON.parse(line) as { result?: { msg?: string; done?: boolean; success?: boolean; imageId?: string } };
        if (result?.msg) onOutput(result.msg);
        if (result?.done && result.success && result.imageId) return result.imageId;
        if (result?.done) throw new NotOk(result.msg || 'the build has given no reason');
      }
    }
    throw new Incomplete('the build ended without a result');
  }

  /** For what may be done twice. */
  async again<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === ATTEMPTS || !isPassing(error)) throw error;
        const wait = (error instanceof Refused ? error.retryAfterMs : undefined) ?? FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        await pause(wait, undefined, { signal });
      }
    }
  }

  private async call<T>(method: string, path: string, json: unknown, signal: AbortSignal, silenceMs = ANSWER_MS): Promise<T> {
    return this.checked(ask<T & Answer>({ url: this.url(path), method, json, headers: this.headers, signal, silenceMs }));
  }

  private async checked<T extends Answer>(asked: Promise<T>): Promise<T> {
    const answer = await asked;
    if (answer?.ok === false) throw new NotOk(answer.errorMsg || answer.errMsg || 'the service has given no reason');
    return answer;
  }

  private of(containerId: string, what: string): string {
    return `pods/${encodeURIComponent(containerId)}/${what}`;
  }

  private url(path: string): string {
    return `${this.account.gatewayUrl}/api/v1/gateway/${path}`;
  }

  private get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.account.token}`, 'content-type': 'application/json' };
  }
}

/** Whether the same request may succeed: the gateway was busy or broke, or the answer did not come whole. */
function isPassing(error: unknown): boolean {
  if (error instanceof Refused) return error.status === 429 || error.status >= 500;
  if (error instanceof NotOk) return false;
  return error instanceof Error && (error instanceof Incomplete || error instanceof SyntaxError || !('code' in error) || error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
