/** Sandboxes that live now: their beginning and end, commands in them, their ports and services. */
import { forkSandbox, openSandbox } from '../../engine/sandboxes/open.js';
import { openSandboxAt } from '../../engine/sandboxes/travel.js';
import { listSandboxes, terminateAll, terminateOrphans, terminateSandbox } from '../../engine/sandboxes/list.js';
import { reportOf, type Held } from '../../engine/sandboxes/held.js';
import { describeSnapshot } from '../../engine/snapshots/manage.js';
import { takeSnapshot } from '../../engine/snapshots/take.js';
import type { SandboxRequests } from '../sandboxApi.js';
import type { Outflows } from '../streams.js';
import type { Call, HandlersOf, Services } from './handlers.js';

type Requests = Extract<keyof SandboxRequests, `sandbox/${string}`>;

export function sandboxHandlers(services: Services, streams: Outflows): HandlersOf<Requests> {
  const held = async ({ root, id }: { readonly root: string; readonly id: string }, call: Call): Promise<Held> => (await services.engine(root, call)).held.get(id);
  const text = (file: string | undefined) => (file === undefined ? undefined : String(file));

  return {
    'sandbox/open': async ({ root, file, snapshot, provider, keepMs }, call) => {
      const engine = await services.engine(root, call);
      const onOutput = (output: string): void => services.notify('build/output', { root, file: text(file) ?? '', text: output });
      const opened = await openSandbox(engine, { file, snapshot, provider, keepMs, signal: call.signal, onOutput });
      services.changed(root, 'snapshots');
      return opened.report(false);
    },
    'sandbox/openAt': async ({ root, trace, step, current, keepMs, progress }, call) => {
      const engine = await services.engine(root, call);
      const onStep = (taken: number, of: number): void => call.session.send('sandbox/step', { progress, step: taken, of });
      const onOutput = (output: string): void => services.notify('build/output', { root, file: trace, text: output });
      const { held: opened, ...more } = await openSandboxAt(engine, { trace, step, current, keepMs, signal: call.signal, onStep, onOutput });
      services.changed(root, 'snapshots');
      return { sandbox: await opened.report(false), ...more };
    },
    'sandbox/list': async ({ root, measure }, call) => listSandboxes(await services.engine(root, call), measure),
    'sandbox/terminate': async ({ root, provider, id }, call) => {
      await terminateSandbox(await services.engine(root, call), provider, id);
      services.changed(root, 'sandboxes');
      return null;
    },
    'sandbox/terminateAll': async ({ root }, call) => {
      const report = await terminateAll(await services.engine(root, call));
      services.changed(root, 'sandboxes');
      return report;
    },
    'sandbox/terminateOrphans': async ({ root }, call) => {
      const report = await terminateOrphans(await services.engine(root, call));
      services.changed(root, 'sandboxes');
      return report;
    },
    'sandbox/extend': async ({ keepMs, ...at }, call) => {
      if (!Number.isFinite(keepMs)) throw new Error('how long a sandbox stays is a number of milliseconds, or -1');
      const sandbox = await held(at, call);
      sandbox.keep(keepMs);
      return sandbox.report(false);
    },
    'sandbox/suspend': async (at, call) => {
      const sandbox = await held(at, call);
      await sandbox.suspend(call.signal);
      return sandbox.report(false);
    },
    'sandbox/resume': async (at, call) => {
      const sandbox = await held(at, call);
      await sandbox.resume(call.signal);
      return sandbox.report(false);
    },
    'sandbox/fork': async ({ root, id, keepMs }, call) => (await forkSandbox(await services.engine(root, call), id, keepMs, call.signal)).report(false),
    'sandbox/snapshot': async ({ root, id, kind, name, note }, call) => {
      const engine = await services.engine(root, call);
      const { sandbox, making, ended } = engine.held.get(id);
      const record = await takeSnapshot(engine, sandbox, making, kind, { name, note }, AbortSignal.any([call.signal, ended]));
      services.changed(root, 'snapshots');
      return describeSnapshot(engine, record.id);
    },
    'sandbox/exec': async ({ argv, cwd, env, stdin, timeoutMs, stream, ...at }, call) => {
      const { sandbox, redactor } = await held(at, call);
      const outflow = streams.open(call.session, stream);
      const stop = new AbortController();
      const signal = AbortSignal.any([call.signal, call.session.closed, stop.signal]);
      try {
        const child = sandbox.exec(argv, { cwd, env, stdin: stdin === undefined ? undefined : Buffer.from(stdin, 'base64'), timeoutMs, signal });
        const sent = Promise.all([outflow.send(redactor.clean(child.stdout), 'stdout'), outflow.send(redactor.clean(child.stderr), 'stderr')]);
        // Output that nobody takes any more is of a command that nobody wants.
        sent.catch((error: unknown) => stop.abort(error));
        const status = await child.exit;
        await sent;
        return status;
      } finally {
        streams.close(call.session, stream);
      }
    },
    'sandbox/stats': async (at, call) => (await held(at, call)).measure(),
    'sandbox/changes': async (at, call) => (await held(at, call)).sandbox.changes({ signal: call.signal }),
    'sandbox/ports': async (at, call) => {
      const { sandbox, forwards } = await held(at, call);
      return { ports: await sandbox.ports({ signal: call.signal }), forwards: forwards.list() };
    },
    'sandbox/forward': async ({ port, localPort, ...at }, call) => (await held(at, call)).forwards.start(checkPort(port), localPort === undefined ? undefined : checkPort(localPort)),
    'sandbox/unforward': async ({ port, ...at }, call) => {
      await (await held(at, call)).forwards.stop(port);
      return null;
    },
    'sandbox/services': async (at, call) => (await held(at, call)).services.map(reportOf),
    'sandbox/logs': async ({ service, from, ...at }, call) => {
      const found = (await held(at, call)).services.find(({ name }) => name === service);
      if (!found) throw new Error(`the sandbox has no service ${service.slice(0, 80)}`);
      return found.log.read(from);
    },
  };
}

function checkPort(port: number): number {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`${port} is no port: expected 1 to 65535`);
}
