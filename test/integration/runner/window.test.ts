/** The runner as a window of the editor sees it. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Runner, type RunnerOptions } from '../../../src/extension/runner.js';
import { FOLDER_VARIABLE } from '../../../src/runner/place.js';
import { Home, SCRIPT, processesWith, until } from './home.js';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('the runner of a window', function () {
  this.timeout(90_000);
  let home: Home;
  let runner: Runner;
  let logged: string[];
  let events: EventEmitter;
  let trusted: boolean;
  const before = process.env[FOLDER_VARIABLE];

  const open = (script = SCRIPT, { startTimeoutMs, execPath = process.execPath, chat = () => Promise.reject(new Error('nobody is to be asked')) }: { startTimeoutMs?: number; execPath?: string; chat?: RunnerOptions['chat'] } = {}): Runner => {
    logged = [];
    events = new EventEmitter();
    trusted = true;
    runner = new Runner({
      execPath,
      script,
      startTimeoutMs,
      idleTimeoutMs: () => undefined,
      accounts: () => Promise.resolve({}),
      log: (level, message) => void logged.push(`${level} ${message}`),
      mayAct: () => trusted,
      chat,
      onDied: (restarting) => void events.emit('died', restarting),
      onOlder: (work) => void events.emit('older', work),
      onInterrupted: (runs) => void events.emit('interrupted', runs),
    });
    return runner;
  };
  const engine = (name: string) => join(import.meta.dirname, 'engines', `${name}.mjs`);
  const ask = () => runner.request('run/list', { root: home.root });
  const pid = async (): Promise<number> => {
    await ask();
    return (await runner.pid())!;
  };

  beforeEach(async () => {
    home = await Home.make();
    process.env[FOLDER_VARIABLE] = home.place.folder;
  });
  afterEach(async () => {
    runner.dispose();
    await home.remove();
    if (before === undefined) delete process.env[FOLDER_VARIABLE];
    else process.env[FOLDER_VARIABLE] = before;
  });

  it('is asked back for a model that it offers, turn by turn', async () => {
    const asked: Parameters<RunnerOptions['chat']>[0][] = [];
    open(SCRIPT, {
      chat: (request) => {
        asked.push(request);
        const [name, args] = asked.length === 1 ? ['bash', '{"command":"echo mended > /answer"}'] : ['submit', '{}'];
        return Promise.resolve({ content: 'Now.', toolCalls: [{ id: `call-${asked.length}`, type: 'function', function: { name, arguments: args } }] });
      },
    });
    const file = await home.template('offered', "task: Mend it.\nepisode: { timeout: 30s }\npolicy: { name: llm, base_url: vscode, model: fake, parameters: { temperature: 0 } }\nreward: { type: exit_code, run: grep -q mended /answer }\n");
    const { id } = await runner.request('run/start', { root: home.root, file, options: { seeds: '1', provider: 'bubblewrap' } });
    await until('the end of the run', async () => (await ask()).find(({ run }) => run.finishedAt !== undefined));
    assert.equal((await runner.request('run/episode', { root: home.root, id, episode: 0 })).record.reward, 1);
    assert.deepEqual(asked.map(({ model, messages, parameters }) => [model, messages.map(({ role }) => role), parameters]), [
      ['fake', ['system', 'user'], { temperature: 0 }],
      ['fake', ['system', 'user', 'assistant', 'tool'], { temperature: 0 }],
    ]);
    // Back to its last step: no model is asked for that, and each step is told.
    const taken: unknown[] = [];
    runner.on('sandbox/step', (step) => taken.push(step));
    const trace = join(home.root, '.rlenv', 'runs', id, 'episodes', '0', 'trace.jsonl');
    const { sandbox, step, difference } = await runner.request('sandbox/openAt', { root: home.root, trace, step: 3, progress: 'mine' });
    assert.deepEqual([step, difference, taken, asked.length], [2, undefined, [{ progress: 'mine', step: 1, of: 2 }, { progress: 'mine', step: 2, of: 2 }], 2]);
    await runner.request('sandbox/terminate', { root: home.root, id: sandbox.id, provider: sandbox.provider });
  });

  it('is started by the first request, once, and stays when the window goes', async () => {
    open();
    assert.equal(await runner.attach(), false);
    assert.deepEqual(await home.runners(), []);
    const [first, second] = await Promise.all([pid(), pid()]);
    assert.equal(first, second);
    runner.dispose();
    await assert.rejects(ask(), { code: 'ConnectionClosed' });
    assert.ok(isAlive(first));

    open();
    assert.equal(await runner.attach(), true);
    assert.equal(await runner.pid(), first);
  });

  it('is started again once when it dies, and a third time only when a person asks', async () => {
    open();
    for (const again of [true, false]) {
      const old = await pid();
      const died = once(events, 'died');
      const restarted = new Promise<void>((resolve) => void runner.onStarted(resolve));
      process.kill(old, 'SIGKILL');
      assert.deepEqual(await died, [again]);
      if (!again) break;
      await restarted;
      assert.notEqual(await pid(), old);
    }
    await assert.rejects(ask(), { code: 'GivenUp' });
    await runner.restart();
    assert.ok(await pid());
  });

  it('ends without a word when a person ends it, and is there again when it is needed', async () => {
    open();
    const old = await pid();
    await home.cli(['runner', 'stop']);
    assert.equal(isAlive(old), false);
    assert.notEqual(await pid(), old);
    assert.equal(logged.some((line) => line.startsWith('error')), false, logged.join('\n'));
  });

  it('is another one after a restart, also for those who ask in the middle of it', async () => {
    open();
    const old = await pid();
    let restarting = true;
    const restart = runner.restart().finally(() => (restarting = false));
    while (restarting) await pid();
    await restart;
    assert.notEqual(await runner.pid(), old);
    assert.equal(isAlive(old), false);
    assert.equal(logged.some((line) => line.startsWith('error')), false, logged.join('\n'));
  });

  it('is replaced when it does not answer', async () => {
    open();
    const old = await pid();
    process.kill(old, 'SIGSTOP');
    const hasty = new Runner({ ...runner['options'], startTimeoutMs: 500 });
    try {
      await assert.rejects(hasty.request('run/list', { root: home.root }), { code: 'Timeout', message: new RegExp(`does not answer .*${old}`) });
      // That the one that it starts is there so soon is too much to ask of a busy machine.
      await hasty.restart().catch((error: { code?: string }) => assert.ok(['StartFailed', 'Timeout'].includes(error.code!), error.code));
      assert.equal(isAlive(old), false);
    } finally {
      hasty.dispose();
    }
    assert.notEqual(await pid(), old);
  });

  it('is given up when it says nothing, and then no process is left', async () => {
    open(engine('silent'), { startTimeoutMs: 500 });
    await assert.rejects(ask(), { code: 'StartFailed', message: /did not start within 0.5 s/ });
    await until('the process to go', async () => (await processesWith(home.place.folder, 'silent')).length === 0 || undefined);
  });

  it('says what it said when it ends at once, and when there is no program to start', async () => {
    open(engine('broken'));
    await assert.rejects(ask(), { code: 'StartFailed', message: /ended as soon as it was started.*Cannot find module "x"/ });
    open(SCRIPT, { execPath: '/nowhere/node' });
    await assert.rejects(ask(), { code: 'StartFailed', message: /ENOENT/ });
  });

  it('only looks while the workspace is not trusted, whoever asks', async () => {
    open();
    trusted = false;
    const { root } = home;
    assert.deepEqual(await ask(), []);
    const refused = { code: 'Untrusted' };
    await assert.rejects(runner.request('build', { root, file: '/w/x' }), refused);
    await assert.rejects(runner.request('run/start', { root, file: '/w/x', options: {} }), refused);
    await assert.rejects(runner.request('run/resume', { root, id: 'x' }), refused);
    await assert.rejects(runner.request('run/rerun', { root, id: 'x' }), refused);
    await assert.rejects(runner.request('run/cancel', { root, id: 'x' }), refused);
    await assert.rejects(runner.request('run/delete', { root, id: 'x' }), refused);
    await assert.rejects(runner.request('sandbox/list', { root }), refused);
    await assert.rejects(runner.request('snapshot/delete', { root, id: 'x' }), refused);
  });

  it('cancels a request, and rejects with the reason', async () => {
    open();
    const file = await home.template('slow', 'setup:\n  - run: echo begun; sleep 600\nepisode:\n  run: echo 1\n');
    runner.look([{ root: home.root, visible: false }]);
    await ask();
    const controller = new AbortController();
    const begun = new Promise<void>((resolve) => void runner.on('build/output', ({ text }) => text.includes('begun') && resolve()));
    const build = runner.request('build', { root: home.root, file }, { signal: controller.signal });
    await Promise.race([begun, build]);
    controller.abort();
    await assert.rejects(build, { name: 'AbortError' });
    await until('the sandbox to go', async () => ((await runner.request('sandbox/list', { root: home.root })).length === 0 ? true : undefined));
  });
});
