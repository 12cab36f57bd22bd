/** The engine's process, from the side of the extension: real children, small ones. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Runner } from '../../../src/extension/runner.js';

const ROOT = '/w';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('runner of the extension', () => {
  let runner: Runner;
  let logged: string[];
  let events: EventEmitter;
  let trusted = true;

  const open = (engine: string, startTimeoutMs = 20_000): Runner => {
    logged = [];
    events = new EventEmitter();
    runner = new Runner({
      execPath: process.execPath,
      script: join(import.meta.dirname, 'engines', `${engine}.mjs`),
      startTimeoutMs,
      log: (level, message) => {
        logged.push(`${level} ${message}`);
        events.emit('log', message);
      },
      mayAct: () => trusted,
      onDied: (exit, restarting) => events.emit('died', exit, restarting),
    });
    return runner;
  };
  /** Process id of the engine that answers. */
  const pid = async (): Promise<number> => ((await runner.request('sandbox/list', { root: ROOT })) as unknown as number[])[0]!;

  afterEach(() => runner.stop(2000));

  it('starts on the first request, once, and hands notifications on', async () => {
    open('obliging');
    assert.equal(await runner.pid(), undefined);
    const changed: unknown[] = [];
    runner.on('changed', (params) => changed.push(params));
    const [first, second] = await Promise.all([pid(), pid(), runner.request('run/list', { root: ROOT })]);
    assert.equal(first, second);
    assert.equal(await runner.pid(), first);
    assert.deepEqual(changed, [{ root: ROOT, kind: 'runs' }]);
  });

  it('starts again once when it dies, tells so, and rejects what was asked', async () => {
    open('obliging');
    const before = await pid();
    const died = once(events, 'died');
    const restarted = new Promise<void>((resolve) => void runner.onStarted(resolve));
    await assert.rejects(runner.request('run/delete', { root: ROOT, id: 'x' }), { name: 'RunnerError', code: 'ConnectionClosed' });
    assert.deepEqual(await died, [{ code: 3, signal: null }, true]);
    await restarted;
    assert.notEqual(await pid(), before);
    assert.ok(logged.includes('warn about to die'));
  });

  it('does not start a third time by itself, but when a person asks', async () => {
    open('obliging');
    for (const again of [true, false]) {
      const died = once(events, 'died');
      await assert.rejects(runner.request('run/delete', { root: ROOT, id: 'x' }));
      assert.equal((await died)[1], again);
    }
    await assert.rejects(pid(), { code: 'GivenUp' });
    await runner.restart();
    assert.ok(await pid());
  });

  it('gives up on an engine that does not answer, and leaves no process', async () => {
    open('silent', 300);
    await assert.rejects(pid(), { code: 'StartFailed', message: /did not start within 0.3 s/ });
    assert.equal(await runner.pid(), undefined);
  });

  it('says what the engine said when it ends at once', async () => {
    open('broken');
    await assert.rejects(pid(), { code: 'StartFailed', message: /ended as soon as it was started: Cannot find module "x"/ });
  });

  it('says so when there is no program to start', async () => {
    runner = new Runner({ execPath: '/nowhere/node', script: 'x', log: () => undefined, mayAct: () => true, onDied: () => undefined });
    await assert.rejects(pid(), { code: 'StartFailed', message: /ENOENT/ });
  });

  it('cancels a request in the engine and rejects with the reason', async () => {
    open('obliging');
    await pid();
    const controller = new AbortController();
    const began = once(events, 'log');
    const build = runner.request('build', { root: ROOT, file: '/w/x' }, { signal: controller.signal });
    assert.deepEqual(await began, ['build began']);
    const cancelled = once(events, 'log');
    controller.abort();
    await assert.rejects(build, { name: 'AbortError' });
    assert.deepEqual(await cancelled, ['build cancelled']);
    await assert.rejects(runner.request('build', { root: ROOT, file: '/w/x' }, { signal: controller.signal }), { name: 'AbortError' });
  });

  it('only looks while the workspace is not trusted, whoever asks', async () => {
    open('obliging');
    trusted = false;
    try {
      assert.deepEqual(await runner.request('run/list', { root: ROOT }), []);
      const refused = { code: 'Untrusted' };
      await assert.rejects(runner.request('build', { root: ROOT, file: '/w/x' }), refused);
      await assert.rejects(runner.request('run/start', { root: ROOT, file: '/w/x', options: {} }), refused);
      await assert.rejects(runner.request('run/resume', { root: ROOT, id: 'x' }), refused);
      await assert.rejects(runner.request('run/rerun', { root: ROOT, id: 'x' }), refused);
      await assert.rejects(runner.request('run/delete', { root: ROOT, id: 'x' }), refused);
      await assert.rejects(runner.request('sandbox/list', { root: ROOT }), refused);
      await assert.rejects(runner.request('snapshot/delete', { root: ROOT, id: 'x' }), refused);
    } finally {
      trusted = true;
    }
  });

  it('stops without a word and does not start again', async () => {
    open('obliging');
    const child = await pid();
    await runner.stop(5000);
    assert.equal(isAlive(child), false);
    await assert.rejects(pid(), { code: 'ConnectionClosed' });
    assert.equal(logged.some((line) => line.startsWith('error')), false);
  });

  it('kills what does not end in time', async () => {
    open('stubborn');
    const child = await pid();
    await runner.stop(300);
    assert.equal(isAlive(child), false);
  });
});
