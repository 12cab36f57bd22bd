import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { TERMINAL_PROGRAM } from '../../src/sandbox/bubblewrap/terminalProgram.js';
import { skip } from '../support/skip.js';
import { CLI, Workspace } from './support.js';

const BODY = 'setup: [{run: "echo prepared > /srv/state"}]\nepisode: {run: "cat /srv/state; echo 1"}\n';

describe('rl-sandboxes shell, exec and snapshot', function () {
  this.timeout(90_000);
  let workspace: Workspace;
  before(async () => (workspace = await Workspace.make()));
  after(() => workspace.remove());

  it('exec runs a command, passes its output on without secrets, exits as it does, and leaves no sandbox', async () => {
    const file = await workspace.template('plain', `secrets: {KEY: "\${env:CLI_KEY}"}\n${BODY}`);
    const { result } = workspace.start(['exec', file, '--', 'sh', '-c', 'cat /srv/state; echo "$KEY"; echo err >&2; exit 7'], { CLI_KEY: 'the-secret-value' });
    const { code, stdout, stderr } = await result;
    assert.deepEqual([code, stdout], [7, 'prepared\n***\n']);
    assert.match(stderr, /err/);
    const { sandboxes } = await workspace.json<{ sandboxes: unknown[] }>('prune');
    assert.deepEqual(sandboxes, []);
  });

  it('shell needs a terminal, and on one it is one', async function () {
    if (process.platform !== 'linux') skip(this, 'the terminal of the test is made with Linux\'s own calls');
    const file = await workspace.template('terminal', BODY);
    assert.equal((await workspace.run('shell', file)).code, 2);
    const child = spawn('perl', ['-e', TERMINAL_PROGRAM, '--', '/dev/ptmx', '90', '30', 'setsid', '--ctty', process.execPath, CLI, 'shell', file], { cwd: workspace.folder, stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [keys, screen, orders] = [child.stdin as Writable, child.stdout as Readable, child.stdio[3] as Writable];
    let shown = '';
    screen.setEncoding('utf8').on('data', (text: string) => (shown += text));
    const shows = async (what: RegExp): Promise<void> => {
      for (let look = 0; !what.test(shown); look++) {
        assert.ok(look < 600, `${what} is not shown, but ${shown}`);
        await pause(50);
      }
    };
    await shows(/sandbox:.*# /);
    keys.write('cat /srv/state; stty size; sleep 100\r');
    await shows(/prepared\r\n30 90/);
    keys.write('\x03');
    await pause(200);
    orders.write('101 41\n');
    await pause(300);
    keys.write('stty size; exit 9\r');
    await shows(/41 101/);
    const [code] = await ended;
    assert.equal(code, 9);
  });

  it('snapshots are listed, exported, deleted, imported, used by id, pruned', async () => {
    const file = await workspace.template('carried', BODY.replace('setup: [', 'setup: [{run: "true"}, '));
    await workspace.run('build', file);
    const { snapshots } = await workspace.json<{ snapshots: { id: string; template: string; ownBytes: number; stale: string[] }[] }>('snapshot', 'list');
    const carried = snapshots.find(({ template }) => template === 'carried')!;
    assert.ok(carried.ownBytes > 0);
    assert.deepEqual(carried.stale, []);
    const out = workspace.path('carried.rlsnapshot');
    assert.ok((await workspace.json<{ bytes: number }>('snapshot', 'export', carried.id, out)).bytes > 0);
    assert.match((await workspace.run('snapshot', 'delete', carried.id)).stdout, new RegExp(`deleted ${carried.id}`));
    const gone = await workspace.run('exec', carried.id, '--', 'true');
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /was deleted on/);
    const { snapshot } = await workspace.json<{ snapshot: { id: string } }>('snapshot', 'import', out);
    assert.equal((await workspace.run('exec', snapshot.id, '--', 'cat', '/srv/state')).stdout, 'prepared\n');
    assert.match((await workspace.run('snapshot', 'list')).stdout, /carried .*import/);
    const pruned = await workspace.json<{ removed: { id: string }[] }>('snapshot', 'prune');
    assert.ok(pruned.removed.some(({ id }) => id === snapshot.id));
    assert.deepEqual((await workspace.json<{ snapshots: unknown[] }>('snapshot', 'list')).snapshots, []);
    assert.equal((await workspace.run('snapshot', 'prune', '--keep', 'much')).code, 2);
    assert.deepEqual((await readdir(workspace.path('.rlenv', 'snapshots', 'bubblewrap', 'snapshots')).catch(() => [])).filter((name) => !name.startsWith('.')), []);
  });

  it('sandbox opens one that outlives the command, of a snapshot too; it is listed, snapshotted by its id, and ended', async () => {
    const env = { RL_SANDBOXES_RUNTIME_DIR: workspace.path('run') };
    const rl = async <T>(...args: string[]): Promise<T> => JSON.parse((await workspace.start([...args, '--json'], env).result).stdout) as T;
    const file = await workspace.template('live', BODY);
    assert.match((await rl<{ error: { message: string } }>('sandbox', 'suspend', 'none')).error.message, /^no engine runs/);
    try {
      const { sandbox } = await rl<{ sandbox: { id: string; state: string; remainingMs: number } }>('sandbox', 'open', file, '--keep', '20m');
      assert.equal(sandbox.state, 'running');
      assert.ok(sandbox.remainingMs > 0 && sandbox.remainingMs <= 1_200_000);
      const { snapshot } = await rl<{ snapshot: { id: string } }>('snapshot', 'create', sandbox.id);
      const second = (await workspace.start(['sandbox', 'open', snapshot.id, '--keep', 'ended'], env).result).stdout.trim();
      const list = async (): Promise<string[]> => (await rl<{ sandboxes: { id: string; attached: boolean }[] }>('sandbox', 'list')).sandboxes.filter(({ attached }) => attached).map(({ id }) => id);
      assert.deepEqual(new Set(await list()), new Set([sandbox.id, second]));
      for (const verb of ['suspend', 'resume']) assert.match((await rl<{ error: { message: string } }>('sandbox', verb, second)).error.message, /cannot suspend/);
      assert.match((await workspace.start(['sandbox', 'end', second], env).result).stdout, new RegExp(`^ended ${second}`));
      assert.deepEqual(await list(), [sandbox.id]);
      assert.match((await rl<{ error: { message: string } }>('sandbox', 'resume', second)).error.message, /there is no sandbox/);
      assert.equal((await workspace.start(['sandbox', 'open', file, '--keep', 'soon'], env).result).code, 2);
    } finally {
      await workspace.start(['runner', 'stop', '--force'], env).result;
    }
  });
});
