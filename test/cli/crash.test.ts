import assert from 'node:assert/strict';
import { appendFile, readFile, readdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { EpisodeRecord } from '../../src/store/records.js';
import { Workspace, type Running } from './support.js';

const SLOWISH = 'episode:\n  run: sleep 0.3; echo 0.$RL_SEED\n';

interface Listed {
  runs: { run: { id: string; state: string; total: number }; finished: number }[];
}

/** Resolves when the run has at least so many finished episodes on disk: at once, since it goes on meanwhile. */
async function finishedOnDisk(workspace: Workspace, atLeast: number): Promise<string> {
  const folder = workspace.path('.rlenv', 'runs');
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(10)) {
    const [id] = await readdir(folder).catch(() => []);
    if (id !== undefined && (await seeds(workspace, id).catch(() => [])).length >= atLeast) return id;
  }
  throw new Error(`no run came to ${atLeast} episodes`);
}

async function seeds(workspace: Workspace, run: string): Promise<number[]> {
  const text = await readFile(workspace.path('.rlenv', 'runs', run, 'episodes.jsonl'), 'utf8');
  return text.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as EpisodeRecord).seed).sort((a, b) => a - b);
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

async function killed(running: Running, signal: NodeJS.Signals): Promise<void> {
  process.kill(running.child.pid!, signal);
  await running.result;
}

describe('after a crash', function () {
  this.timeout(180_000);
  let workspace: Workspace;
  let file: string;
  beforeEach(async () => {
    workspace = await Workspace.make();
    file = await workspace.template('slowish', SLOWISH);
  });
  afterEach(() => workspace.remove());

  for (const moment of [1, 7, 23])
    it(`kill -9 after ${moment} finished episodes: resume runs only the missing ones, and no sandbox is left`, async () => {
      const running = workspace.start(['run', file, '-n', '60', '-c', '4']);
      const run = await finishedOnDisk(workspace, moment);
      await killed(running, 'SIGKILL');
      const before = await seeds(workspace, run);
      assert.ok(before.length >= moment && before.length < 60, `${before.length} finished`);
      const { runs } = await workspace.json<Listed>('list');
      assert.equal(runs[0]!.run.state, 'interrupted');

      const resumed = await workspace.run('resume', run);
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.deepEqual(await seeds(workspace, run), upTo(60), 'each seed once');
      const { sandboxes } = await workspace.json<{ sandboxes: string[] }>('prune');
      assert.deepEqual(sandboxes, []);
    });

  it('Ctrl-C cancels cleanly: exit code 130, finished episodes stay, resume goes on', async () => {
    const running = workspace.start(['run', file, '-n', '60', '-c', '4']);
    const run = await finishedOnDisk(workspace, 5);
    process.kill(-running.child.pid!, 'SIGINT');
    const { code, stdout, stderr } = await running.result;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /slowish #1 .* cancelled/);
    assert.match(stdout, /episodes +\d+ completed {2}\d+ not run/);
    assert.match(stdout, new RegExp(`go on with: rl-sandboxes resume ${run}`));
    const before = await seeds(workspace, run);

    await workspace.template('slowish', SLOWISH.replace('0.$RL_SEED', '1'));
    const other = await workspace.run('resume', run);
    assert.equal(other.code, 1);
    assert.match(other.stdout, /the run stopped: the template has changed since the run began \(its episode\)/);
    assert.deepEqual(await seeds(workspace, run), before, 'no episode of another template');

    await workspace.template('slowish', SLOWISH);
    const both = await Promise.all([workspace.run('resume', run), workspace.run('resume', run)]);
    assert.ok(both.some(({ code }) => code === 0));
    for (const { code, stderr } of both) if (code !== 0) assert.match(stderr, /is still running/);
    assert.deepEqual(await seeds(workspace, run), upTo(60), 'each seed once, whoever ran it');
  });

  it('a second Ctrl-C ends at once, and what is left is a run to resume', async () => {
    const stubborn = await workspace.template('stubborn', 'episode:\n  run: trap "" TERM INT; sleep 60; echo 1\n  timeout: 5m\n');
    const running = workspace.start(['run', stubborn, '-n', '4']);
    await once(running.child.stderr!, 'data');
    process.kill(running.child.pid!, 'SIGINT');
    process.kill(running.child.pid!, 'SIGINT');
    const { code, signal } = await running.result;
    assert.ok(code === 130 && signal === null);
    const { sandboxes } = await workspace.json<{ sandboxes: string[] }>('prune');
    assert.ok(Array.isArray(sandboxes));
  });

  it('skips a torn last line and damaged lines, and runs those episodes again', async () => {
    await workspace.run('run', file, '-n', '6', '-c', '6');
    const { runs } = await workspace.json<Listed>('list');
    const { id } = runs[0]!.run;
    const log = workspace.path('.rlenv', 'runs', id, 'episodes.jsonl');
    const lines = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    await writeFile(log, lines.slice(0, 4).join('\n') + '\n{"episode":');
    await appendFile(log, '5,"seed"');
    const resumed = await workspace.run('resume', id);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.deepEqual(await seeds(workspace, id), upTo(6));
  });
});
