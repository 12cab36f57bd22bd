import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EpisodeRecord } from '../../src/store/records.js';
import { HELLO, Workspace, normalise } from './support.js';

const execute = promisify(execFile);

interface RunObject {
  run: { id: string; state: string; snapshot: { built: boolean; id: string }; total: number };
  finished: number;
  counts: Record<string, number>;
  stats: { scored: number; unscored: number; mean: number };
  directory: string;
}

async function episodes(directory: string): Promise<EpisodeRecord[]> {
  const text = await readFile(join(directory, 'episodes.jsonl'), 'utf8');
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as EpisodeRecord);
}

describe('rl-sandboxes run', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  it('runs hello and prints the table', async () => {
    const { code, stdout, stderr } = await workspace.run('run', HELLO, '-n', '64', '-c', '16');
    assert.equal(code, 0, stderr);
    const golden = await readFile('test/cli/golden/run.txt', 'utf8');
    assert.equal(normalise(stdout, workspace.folder), golden);
    // In a pipe progress is plain lines.
    assert.match(stderr, /^hello #1 {2}64\/64 /m);
     
    assert.doesNotMatch(stderr + stdout, /\u001b/);
  });

  it('builds nothing the second time, says so, and gives the same rewards for the same seeds', async () => {
    const { stderr, code } = await workspace.run('run', HELLO, '-n', '64', '-c', '32');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /Nothing to build: snapshot \S+ is up to date/);
    const { runs } = await workspace.json<{ runs: { run: { id: string } }[] }>('list');
    const [second, first] = await Promise.all(runs.slice(0, 2).map(({ run }) => episodes(workspace.path('.rlenv', 'runs', run.id))));
    const rewards = (records: EpisodeRecord[]) => new Map(records.map((record) => [record.seed, record.reward]));
    assert.equal(first!.length, 64);
    assert.deepEqual([...rewards(second!)].sort(), [...rewards(first!)].sort());
    assert.ok(new Set(rewards(first!).values()).size > 50, 'rewards differ from seed to seed');
  });

  it('prints one object with --json', async () => {
    const result = await workspace.json<RunObject>('run', HELLO, '--seeds', '3,17,99', '--samples', '2');
    assert.equal(result.finished, 6);
    assert.equal(result.stats.scored, 6);
    assert.deepEqual(result.counts, { completed: 6, truncated: 0, error: 0, cancelled: 0 });
    const records = await episodes(result.directory);
    assert.deepEqual(records.map(({ seed, sample }) => `${seed}/${sample}`).sort(), ['17/0', '17/1', '3/0', '3/1', '99/0', '99/1']);
    const seventeen = records.filter(({ seed }) => seed === 17).map(({ reward }) => reward);
    assert.equal(seventeen[0], seventeen[1]);
  });

  it('shows an episode with its output', async () => {
    const { stdout, code } = await workspace.run('show', 'latest', '-e', '0');
    assert.equal(code, 0);
    assert.match(stdout, /episode +0 {2}seed 3 {2}sample 0/);
    assert.match(stdout, /--- stdout\n(.*\n)*0\.\d+/);
  });

  it('exports what finished', async () => {
    const csv = (await workspace.run('export', 'latest', '-f', 'csv')).stdout.trim().split('\n');
    assert.equal(csv.length, 7);
    assert.match(csv[0]!, /^episode,seed,sample,status,reward,/);
    const jsonl = (await workspace.run('export', 'latest')).stdout.trim().split('\n');
    assert.equal(jsonl.length, 6);
    assert.ok(jsonl.every((line) => typeof (JSON.parse(line) as EpisodeRecord).reward === 'number'));
  });

  it('keeps no snapshot of a setup that fails, and shows its output', async () => {
    const file = await workspace.template('broken', 'setup:\n  - run: echo going to fail; exit 7\nepisode:\n  run: echo 1\n');
    const before = (await readdir(workspace.path('.rlenv', 'snapshots'))).filter((name) => name.endsWith('.json')).length;
    const { code, stderr } = await workspace.run('run', file);
    assert.equal(code, 1);
    assert.match(stderr, /error: setup step 1 ended with exit code 7\n.*\n +going to fail/);
    assert.equal((await readdir(workspace.path('.rlenv', 'snapshots'))).filter((name) => name.endsWith('.json')).length, before);
  });

  it('names every problem of a template and runs nothing', async () => {
    const file = await workspace.template('wrong', 'resources: {memory: 2GB}\nepisode: {run: echo 1, seed: 3}\n');
    const { code, stderr } = await workspace.run('run', file);
    assert.equal(code, 1);
    assert.match(stderr, /wrong\.rlenv\.yaml:2:21: error: .*2Gi.*\n.*wrong\.rlenv\.yaml:3:24: error: .*"seed".*"seeds"/);
  });

  it('keeps sandboxes warm if the template asks, and ends them with Ctrl-C', async () => {
    const mark = `sleep 876${process.pid}`;
    const alive = async () => (await execute('ps', ['-eo', 'args'])).stdout.split('\n').filter((line) => line === mark).length;
    const file = await workspace.template('warm', `keep_warm: -1\nepisode:\n  seeds: 2\n  run: |\n    ${mark} > /dev/null 2>&1 &\n    echo 1\n`);
    const { child, result } = workspace.start(['run', file]);
    let said = '';
    await new Promise<void>((resolve) => child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()).includes('2 sandboxes stay warm') && resolve()));
    assert.equal(await alive(), 2);
    process.kill(child.pid!, 'SIGINT');
    assert.equal((await result).code, 0);
    assert.equal(await alive(), 0);
  });

  it('never writes the value of a secret', async () => {
    const value = 'correct-horse-battery-staple';
    const file = await workspace.template(
      'secretive',
      `secrets: [MY_TOKEN]\nsetup:\n  - run: echo "setup has $MY_TOKEN"\nepisode:\n  run: |\n    echo "here is $MY_TOKEN"; echo "$MY_TOKEN" >&2; mkdir -p /out/$MY_TOKEN; echo "$MY_TOKEN" > /out/$MY_TOKEN/stolen.txt; ln -s $MY_TOKEN /out/link; truncate -s 2G /out/z; echo "\${#MY_TOKEN}"\nartifacts: [/out]\n`,
    );
    const missing = await workspace.run('run', file);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /needs \$MY_TOKEN, which is not set/);
    const { stdout, stderr, code } = await workspace.start(['run', file, '-v', '--rebuild'], { MY_TOKEN: value }).result;
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`mean +${value.length}\\.0000`));
    assert.match(stdout, /1 x artifacts: the archive holds more than \d+ bytes; those before are kept/);
    assert.ok(!(stdout + stderr).includes(value));
    for (const entry of await readdir(workspace.path('.rlenv'), { recursive: true, withFileTypes: true })) {
      assert.ok(!entry.name.includes(value), `${join(entry.parentPath, entry.name)} is named after the secret`);
      if (!entry.isFile()) continue;
      const content = await readFile(join(entry.parentPath, entry.name));
      assert.ok(!content.includes(value), `${join(entry.parentPath, entry.name)} holds the secret`);
    }
  });
});

describe('rl-sandboxes usage', () => {
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  it('ends with 2 for words that are wrong, and helps', async () => {
    const command = await workspace.run('rum', HELLO);
    assert.equal(command.code, 2);
    assert.match(command.stderr, /Did you mean run\?/);
    const option = await workspace.run('run', HELLO, '-n', 'many');
    assert.equal(option.code, 2);
    assert.match(option.stderr, /expected a whole number/);
    const seeds = await workspace.run('run', HELLO, '-n', '3', '--seeds', '1,2');
    assert.equal(seeds.code, 2);
    for (const words of [['--seeds', '5..2'], ['--policy', 'orcale']]) assert.equal((await workspace.run('run', HELLO, ...words)).code, 2, words.join(' '));
  });

  it('prints nothing of a store that somebody else has written that a terminal would act on', async () => {
    const [folder, evil] = [workspace.path('other', '.rlenv', 'runs', 'evil'), '\u001b[2J\u001b]0;title\u0007\u009b2J'];
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'run.json'), JSON.stringify({ id: 'evil', number: 1, template: `${evil}red`, provider: evil, state: 'failed', error: evil, total: 1, createdAt: 0, seeds: { list: [1] }, summary: { finished: 0, errors: 0, unscored: 0, mean: null, ci95: null } }));
    for (const words of [['list'], ['show', '1']]) {
      const { stdout, stderr } = await workspace.run('--root', workspace.path('other'), ...words);
      assert.match(stdout, /red/);
      assert.doesNotMatch(stdout + stderr, /[\u001b\u0007\u009b]/);
    }
  });

  it('says what is wrong in one sentence when there is no such file or run', async () => {
    const file = await workspace.run('run', 'nowhere.rlenv.yaml');
    assert.equal(file.code, 1);
    assert.match(file.stderr, /nowhere\.rlenv\.yaml/);
    assert.doesNotMatch(file.stderr, /at .*\.mjs/);
    const run = await workspace.run('show', 'latest');
    assert.equal(run.code, 1);
    assert.match(run.stderr, /^error: there is no run "latest" in /);
  });

  it('validates all files that it is given', async () => {
    const good = await workspace.run('validate', HELLO);
    assert.equal(good.code, 0);
    assert.equal(good.stdout, '1 template valid\n');
    const twin = await workspace.template('hello', 'episode: {run: echo 1}\n');
    const { problems } = await workspace.json<{ problems: { message: string }[] }>('validate', HELLO, twin);
    assert.equal(problems.length > 0, true);
    assert.match(problems[0]!.message, /hello/);
    const { problems: misspelt } = await workspace.json<{ problems: { message: string }[] }>('validate', await workspace.template('misspelt', 'provider: dokcer\nepisode: {run: echo 1}\n'));
    assert.deepEqual(misspelt.map(({ message }) => message), ['there is no provider "dokcer": did you mean "docker"?']);
  });

  it('tells which provider is taken and why', async () => {
    const report = await workspace.json<{ chosen?: { id: string; why: string }; providers: { id: string; ok: boolean }[] }>('doctor');
    assert.deepEqual(report.providers.map(({ id }) => id), ['bubblewrap', 'docker', 'podman', 'e2b', 'beam']);
    assert.equal(report.chosen?.id, report.providers.find(({ ok }) => ok)?.id);
  });
});
