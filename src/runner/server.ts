/** Serves the engine over JSON-RPC to any number of connections: one engine for each workspace folder, opened on first use. */
import type { CancellationToken, MessageConnection } from 'vscode-jsonrpc/node';
import { Engine } from '../engine/engine.js';
import type { RunnerNotifications } from './api.js';
import { Coalescer } from './coalescer.js';
import { toResponseError } from './errors.js';
import { allHandlers } from './handlers/index.js';
import type { Call, Handlers, Services } from './handlers/handlers.js';

const NOTIFY_INTERVAL_MS = 100;

type Handler = (params: unknown, call: Call) => Promise<unknown>;

export class RunnerServer implements Services {
  private readonly engines = new Map<string, Promise<Engine>>();
  private readonly coalescer = new Coalescer(NOTIFY_INTERVAL_MS);
  private readonly clients = new Set<MessageConnection>();
  private readonly handlers: Handlers = allHandlers(this);

  /** Answers a connection until it closes. */
  serve(connection: MessageConnection): void {
    for (const [method, handler] of Object.entries(this.handlers)) {
      connection.onRequest(method, async (params: unknown, token: CancellationToken) => {
        const controller = new AbortController();
        const subscription = token.onCancellationRequested(() => controller.abort(new Error('the request was cancelled')));
        try {
          return await (handler as Handler)(params, { signal: controller.signal });
        } catch (error) {
          return toResponseError(error);
        } finally {
          subscription.dispose();
        }
      });
    }
    this.clients.add(connection);
    connection.onClose(() => this.clients.delete(connection));
    connection.listen();
  }

  /** Cancels every run and ends every sandbox of this process. */
  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.engines.values());
    await Promise.all(engines.flatMap((engine) => (engine.status === 'fulfilled' ? [engine.value.close()] : [])));
    this.engines.clear();
  }

  engine(root: string): Promise<Engine> {
    let engine = this.engines.get(root);
    if (!engine) {
      engine = Engine.open({ root, log: (message) => this.send('log', { level: 'info', message }), onSandboxes: () => this.changed(root, 'sandboxes') });
      engine.catch(() => this.engines.delete(root));
      this.engines.set(root, engine);
    }
    return engine;
  }

  changed(root: string, kind: RunnerNotifications['changed']['kind'], id?: string): void {
    this.coalescer.notify(`${root} ${kind} ${id ?? ''}`, () => this.notify('changed', { root, kind, id }));
  }

  notify<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K] & { readonly root: string }): void {
    this.send(method, params);
  }

  private send<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K]): void {
    for (const client of this.clients) client.sendNotification(method, params).catch(() => undefined);
  }
}
