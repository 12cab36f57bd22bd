/** An engine that answers what a test says, and records what it was asked. */
import { EventEmitter } from 'node:events';
import type { Runner } from '../../../src/extension/runner.js';
import type { RunnerNotifications, RunnerRequests } from '../../../src/runner/api.js';

type Answers = { [K in keyof RunnerRequests]?: (params: RunnerRequests[K]['params']) => RunnerRequests[K]['result'] | Promise<RunnerRequests[K]['result']> };

export class FakeRunner implements Pick<Runner, 'request' | 'on' | 'onStarted' | 'onEnded'> {
  readonly asked: { method: string; params: unknown }[] = [];
  private readonly events = new EventEmitter();

  constructor(readonly answers: Answers = {}) {}

  async request<K extends Exclude<keyof RunnerRequests, 'hello'>>(method: K, params: RunnerRequests[K]['params']): Promise<RunnerRequests[K]['result']> {
    this.asked.push({ method, params });
    await Promise.resolve();
    const answer = this.answers[method] as ((params: RunnerRequests[K]['params']) => RunnerRequests[K]['result']) | undefined;
    if (!answer) throw new Error(`nothing answers ${method}`);
    return answer(params);
  }

  count(method: string): number {
    return this.asked.filter((one) => one.method === method).length;
  }

  on<K extends keyof RunnerNotifications>(method: K, listener: (params: RunnerNotifications[K]) => void) {
    return this.listen(method, listener as (params: unknown) => void);
  }

  onStarted(listener: () => void) {
    return this.listen('started', listener);
  }

  onEnded(listener: () => void) {
    return this.listen('ended', listener);
  }

  notify<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K]): void {
    this.events.emit(method, params);
  }

  private listen(name: string, listener: (params: unknown) => void) {
    this.events.on(name, listener);
    return { dispose: () => this.events.off(name, listener) };
  }
}
