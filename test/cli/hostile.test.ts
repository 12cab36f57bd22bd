/** Bad input gets a clear outcome, and nothing is lost. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EpisodeRecord } from '../../src/store/records.js';
import { skip } from '../support/skip.js';
import { CLI, HELLO, Workspace } from './support.js';

const execute = promisify(execFile);

interface RunObject {
  run: { id: string; state: string; error?: string };
  finished: number;
  counts: Record<string, number>;
  failures: { code: string; example: string; count: number }[];
  directory: string;
}

describe('hostile episodes', function () {
  this.timeout(300_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  /** Runs one episode and returns its record. */
  async function play(name: string, body: string): Promise<EpisodeRecord & { directory: string }> {
    const file = await workspace.template(name, body);
    const { directory } = await workspace.json<RunObject>('run', file, '-n', '1');
    const text = await readFile(join(directory, 'episodes.jsonl'), 'utf8');
    return { ...(JSON.parse(text.trim()) as EpisodeRecord), directory: join(directory, 'episodes', '0') };
  }

  it('one that forks without end is held by the limit on processes, and by its deadline', async () => {
    const record = await play('forks', 'resources: {pids: 64}\nepisode:\n  run: |\n    f() { f | f & }; f; sleep 60\n  timeout: 5s\n');
    assert.ok(['truncated', 'completed'].includes(record.status), record.cause);
    assert.equal(record.reward, null);
  });

  it('one that fills its disk gets "no space", and its neighbours do not', async () => {
    const record = await play('fills', 'resources: {disk: 16Mi, memory: 256Mi}\nepisode:\n  run: |\n    head -c 64M /dev/zero > /big 2> /dev/null && echo 1 || echo 0\n');
    assert.equal(record.status, 'completed', record.cause);
    assert.equal(record.reward, 0);
  });

  it('one that prints 2 GB is kept to its head and tail, and says how much fell between', async () => {
    const record = await play('prints', 'episode:\n  run: |\n    yes 0123456789abcdef | head -c 2G; echo; echo 0.5\n  timeout: 4m\n');
    assert.equal(record.status, 'completed', record.cause);
    assert.equal(record.reward, 0.5);
    assert.equal(record.output.stdout, 2 ** 31 + 5);
    const { size } = await stat(join(record.directory, 'stdout.log'));
    assert.ok(size < 2 ** 20 + 2 ** 16, `${size} bytes kept`);
    assert.ok(record.output.dropped > 2 ** 31 - 2 ** 21);
  });

  it('one that prints invalid UTF-8 is read all the same', async () => {
    const record = await play('bytes', `episode:\n  run: |\n    printf '\\377\\376\\303\\n\\355\\240\\200\\n0.25\\n'\n`);
    assert.equal(record.reward, 0.25);
  });

  it('one that ignores SIGTERM is truncated at its deadline', async () => {
    const record = await play('stubborn', 'episode:\n  run: |\n    trap "" TERM INT HUP; while :; do sleep 1; done\n  timeout: 1s\n');
    assert.equal(record.status, 'truncated');
    assert.match(record.cause!, /^timeout: /);
    assert.equal(record.reward, null);
  });

  it('a machine without room for more open files ends the run with a reason, and the command with it', async () => {
    const file = await workspace.template('crowded', 'episode: {run: "sleep 1; echo 1"}\n');
    const { stdout, code } = await execute('bash', ['-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, CLI, '--root', workspace.folder, 'run', file, '-n', '64'], { timeout: 60_000 }).catch((error: { stdout: string; code: number }) => error) as { stdout: string; code?: number };
    assert.equal(code, 1, stdout);
    assert.match(stdout, /too many (open files|files are open)/);
    assert.deepEqual((await workspace.json<{ sandboxes: string[] }>('prune')).sandboxes, []);
  });

  it('one that leaves processes behind ends, and they end with it', async () => {
    const mark = `987${process.pid}`;
    const record = await play('leaves', `episode:\n  run: |\n    sleep ${mark} & setsid sleep ${mark} & echo 0.75\n`);
    assert.equal(record.reward, 0.75);
    const { stdout } = await execute('ps', ['-eo', 'args']);
    assert.ok(!stdout.split('\n').some((line) => line === `sleep ${mark}`));
  });

  it('one that uses more than its memory is truncated, and says so', async function () {
    const { providers } = await workspace.json<{ providers: { id: string; limits?: { memory: string } }[] }>('doctor');
    if (providers[0]?.limits?.memory !== 'cgroup') skip(this, 'memory is not limited by a cgroup here');
    const record = await play('hungry', 'resources: {memory: 64Mi, disk: 32Mi}\nepisode:\n  run: |\n    exec tail /dev/zero\n');
    assert.equal(record.status, 'truncated', record.cause);
    assert.match(record.cause!, /^memory: /);
  });
});

describe('hostile files', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  const bad: [string, string, RegExp][] = [
    ['not YAML', 'name: x\nepisode: {run: [}\n', /:2:\d+: error: /],
    ['a cycle of aliases', 'name: x\nepisode: &a {run: *a}\n', /:2:\d+: error: /],
    ['a bomb of aliases', `name: x\na: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghij'.split('').map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(',')}]`).join('\n')}\n`, /error: /],
    ['nothing', '', /:1:1: error: /],
    ['two documents', 'name: x\nepisode: {run: echo 1}\n---\nname: y\n', /error: /],
  ];
  for (const [what, text, expected] of bad)
    it(`a template that is ${what}`, async () => {
      const file = workspace.path('bad.rlenv.yaml');
      await writeFile(file, text);
      const { code, stdout, stderr } = await workspace.run('validate', file);
      assert.equal(code, 1, stderr);
      assert.match(stdout, expected);
      assert.doesNotMatch(stdout + stderr, /at .*\.mjs/);
    });

  it('a template of 50 MB is refused unread', async () => {
    const file = workspace.path('big.rlenv.yaml');
    await writeFile(file, '');
    await truncate(file, 50_000_000);
    const { code, stdout } = await workspace.run('validate', file);
    assert.equal(code, 1);
    assert.match(stdout, /error: .*(MB|MiB)/);
  });

  it('a damaged run is passed over, and the others are listed', async () => {
    await workspace.run('run', HELLO, '-n', '2');
    await mkdir(workspace.path('.rlenv', 'runs', 'odd', 'run.json'), { recursive: true });
    await mkdir(workspace.path('.rlenv', 'runs', 'garbage'), { recursive: true });
    await writeFile(workspace.path('.rlenv', 'runs', 'garbage', 'run.json'), '{"id": ');
    const { runs } = await workspace.json<{ runs: unknown[] }>('list');
    assert.equal(runs.length, 1);
    const { code, stderr } = await workspace.run('show', 'garbage');
    assert.equal(code, 1);
    assert.match(stderr, /^error: there is no run "garbage"/);
  });

  it('a disk that fills up stops the run with a sentence; what finished stays', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root can mount a small disk');
    const disk = workspace.path('small');
    await mkdir(disk);
    await execute('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
    try {
      const file = await workspace.template('talkative', 'episode:\n  run: |\n    head -c 100000 /dev/zero | tr "\\0" x; echo; echo 1\n');
      const { stdout, stderr } = await workspace.run('run', file, '-n', '200', '-c', '4', '--root', disk, '--json');
      const { run, finished } = JSON.parse(stdout) as RunObject;
      assert.ok(run, stdout + stderr);
      assert.equal(run.state, 'failed');
      assert.match(run.error!, /ENOSPC|no space/);
      assert.ok(finished > 0 && finished < 200, `${finished} finished`);
    } finally {
      await execute('umount', ['-l', disk]);
    }
  });
});
