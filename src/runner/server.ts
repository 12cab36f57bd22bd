/** Serves the engine over JSON-RPC: one engine for each workspace folder, opened on first use. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { CancellationToken, MessageConnection } from 'vscode-jsonrpc/node';
import { doctor } from '../engine/doctor.js';
import { Engine } from '../engine/engine.js';
import { exportRun } from '../engine/export.js';
import type { LiveRun, LiveRunEvents } from '../engine/liveRun.js';
import { templateStatus } from '../engine/templateStatus.js';
import type { RunnerNotifications, RunnerRequests } from './api.js';
import { Coalescer } from './coalescer.js';
import { toResponseError } from './errors.js';

const NOTIFY_INTERVAL_MS = 100;

type Handlers = {
  [K in keyof RunnerRequests]: (params: RunnerRequests[K]['params'], signal: AbortSignal) => Promise<RunnerRequests[K]['result']>;
};

type Handler = (params: unknown, signal: AbortSignal) => Promise<unknown>;

export class RunnerServer {
  private readonly engines = new Map<string, Promise<Engine>>();
  private readonly coalescer = new Coalescer(NOTIFY_INTERVAL_MS);

  constructor(private readonly connection: MessageConnection) {
    for (const [method, handler] of Object.entries(this.handlers)) {
      connection.onRequest(method, async (params: unknown, token: CancellationToken) => {
        const controller = new AbortController();
        const subscription = token.onCancellationRequested(() => controller.abort(new Error('the request was cancelled')));
        try {
          return await (handler as Handler)(params, controller.signal);
        } catch (error) {
          return toResponseError(error);
        } finally {
          subscription.dispose();
        }
      });
    }
  }

  /** Cancels every run and ends every sandbox of this process. */
  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.engines.values());
    await Promise.all(engines.flatMap((engine) => (engine.status === 'fulfilled' ? [engine.value.close()] : [])));
    this.engines.clear();
  }

  private engine(root: string): Promise<Engine> {
    let engine = this.engines.get(root);
    if (!engine) {
      engine = Engine.open({ root, log: (message) => this.send('log', { level: 'info', message }), onSandboxes: () => this.changed(root, 'sandboxes') });
      engine.catch(() => this.engines.delete(root));
      this.engines.set(root, engine);
    }
    return engine;
  }

  private send<K extends keyof RunnerNotifications>(method: K, params: RunnerNotifications[K]): void {
    this.connection.sendNotification(method, params).catch(() => undefined);
  }

  private changed(root: string, kind: RunnerNotifications['changed']['kind'], id?: string): void {
    this.coalescer.notify(`${root} ${kind} ${id ?? ''}`, () => this.send('changed', { root, kind, id }));
  }

  /** Events of a run become notices: of the run itself, of the list when its state changes, of what it makes and ends. */
  private events(root: string, file: () => string): LiveRunEvents {
    let state = '';
    return {
      onOutput: (text) => this.send('build/output', { root, file: file(), text }),
      onChange: (live) => {
        this.changed(root, 'run', live.record.id);
        this.changed(root, 'sandboxes');
        if (live.record.state === state) return;
        state = live.record.state;
        this.changed(root, 'runs');
        this.changed(root, 'snapshots');
      },
    };
  }

  private begun(root: string, live: LiveRun): { id: string } {
    void live.ended.then((run) => {
      this.changed(root, 'run', run.id);
      this.changed(root, 'runs');
      this.changed(root, 'sandboxes');
    });
    return { id: live.record.id };
  }

  private readonly handlers: Handlers = {
    doctor: async ({ root, provider }, signal) => doctor(await this.engine(root), provider, signal),
    'template/status': async ({ root, file }) => templateStatus(await this.engine(root), file),
    build: async ({ root, file, provider, rebuild }, signal) => {
      const engine = await this.engine(root);
      const { snapshot, built } = await engine.build(file, { provider, rebuild, signal, onOutput: (text) => this.send('build/output', { root, file, text }) });
      this.changed(root, 'snapshots');
      return { snapshot, built };
    },
    'run/start': async ({ root, file, options }) => this.begun(root, await (await this.engine(root)).start(file, options, this.events(root, () => file))),
    'run/resume': async ({ root, id }) => {
      const live: LiveRun = await (await this.engine(root)).resume(id, this.events(root, () => live.record.file));
      return this.begun(root, live);
    },
    'run/rerun': async ({ root, id, only }) => {
      const live: LiveRun = await (await this.engine(root)).rerun(id, only, this.events(root, () => live.record.file));
      return this.begun(root, live);
    },
    'run/cancel': async ({ root, id }) => {
      await (await this.engine(root)).live.get(id)?.cancel();
      return null;
    },
    'run/delete': async ({ root, id }) => {
      await (await this.engine(root)).deleteRun(id);
      this.changed(root, 'runs');
      return null;
    },
    'run/list': async ({ root }) => (await this.engine(root)).list(),
    'run/snapshot': async ({ root, id }) => (await this.engine(root)).snapshot(id),
    'run/rows': async ({ root, id, query }) => (await this.engine(root)).rows(id, query),
    'run/episode': async ({ root, id, episode }) => (await this.engine(root)).episode(id, episode),
    'run/export': async ({ root, id, format, file }) => {
      const output = createWriteStream(file);
      const failed = finished(output);
      failed.catch(() => undefined);
      const episodes = await Promise.race([exportRun((await this.engine(root)).layout, id, format, output), failed.then(() => 0)]);
      output.end();
      await failed;
      return { episodes };
    },
    'sandbox/list': async ({ root }) => (await this.engine(root)).sandboxes(),
    'sandbox/terminate': async ({ root, provider, id }) => {
      await (await (await this.engine(root)).providers.get(provider)).terminate(id);
      this.changed(root, 'sandboxes');
      return null;
    },
    'snapshot/delete': async ({ root, id }) => {
      await (await this.engine(root)).deleteSnapshot(id);
      this.changed(root, 'snapshots');
      return null;
    },
    shutdown: async () => {
      await this.close();
      return null;
    },
  };
}
