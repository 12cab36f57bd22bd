/** What only bubblewrap has: its roots, its folder of state, its first process. */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';
import { runCommand } from '../../../src/sandbox/command.js';
import { findHierarchies, removeGroup } from '../../../src/sandbox/bubblewrap/cgroupTree.js';
import { createProvider } from '../../../src/sandbox/bubblewrap/index.js';
import { BuildFailed, LimitExceeded, SandboxLost, Unsupported } from '../../../src/sandbox/errors.js';
import type { Health } from '../../../src/sandbox/provider.js';
import { Bench, output, run, until } from '../conformance/bench.js';
import { asRoot, bubblewrapSubject, processesOf } from './subject.js';
import { skip } from '../../support/skip.js';

const CHECK = fileURLToPath(new URL('./check.ts', import.meta.url));

/** A root with nothing but a shell and `ls`. */
async function makeRoot(folder: string): Promise<void> {
  for (const program of ['/bin/sh', '/bin/ls']) {
    const { stdout } = await runCommand('ldd', [program]);
    for (const path of [program, ...[...stdout.matchAll(/(\/\S+) \(/g)].map((match) => match[1]!)]) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await copyFile(path, join(folder, path));
    }
  }
  await writeFile(join(folder, 'marker'), 'from the folder\n');
}

/** What this process has open below a folder. */
async function openBelow(folder: string): Promise<string[]> {
  const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((path) => path.startsWith(folder));
}

describe(`bubblewrap's own, ${asRoot ? 'as root' : 'as an ordinary user'}`, function () {
  this.timeout(120_000);
  const bench = new Bench();
  before(async () => bench.start(await bubblewrapSubject()));
  after(() => bench.stop());
  afterEach(() => bench.terminateAll());

  async function needDiskLimit(context: Context): Promise<void> {
    if ((await bench.provider.check()).limits?.disk !== 'filesystem') skip(context, 'the kernel is too old to limit the disk');
  }

  it('a disk that is full while a snapshot is taken keeps nothing of it, and the sandbox goes on', async function () {
    if (!asRoot) skip(this, 'a small disk can only be mounted by root');
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-full-'));
    const mounted = await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'rl-full', stateDir]);
    assert.equal(mounted.code, 0, mounted.stderr);
    const provider = createProvider({ stateDir, log: console.error });
    try {
      const setup = await provider.create({}, await bench.spec());
      await output(setup, 'echo prepared > /srv/state');
      const base = await setup.snapshot('filesystem');
      const sandbox = await provider.restore(base, await bench.spec());
      const ticking = sandbox.exec(['sh', '-c', 'while :; do date +%N > /srv/tick; sleep 0.02; done']);
      ticking.exit.catch(() => undefined);
      ticking.stdout.resume();
      ticking.stderr.resume();
      await output(sandbox, 'head -c 40000000 /dev/zero > /srv/big');
      const before = await readdir(join(stateDir, 'snapshots'));
      await assert.rejects(sandbox.snapshot('filesystem'), LimitExceeded);
      assert.deepEqual(await readdir(join(stateDir, 'snapshots')), before);
      const tick = await output(sandbox, 'cat /srv/tick');
      await until(async () => (await output(sandbox, 'cat /srv/tick')) !== tick, 'what runs to go on');
      await output(sandbox, 'head -c 1000000 /dev/zero > /srv/big');
      const fits = await sandbox.snapshot('filesystem');
      const archive = await provider.exportSnapshot(fits);
      const filler = await provider.restore(base, await bench.spec());
      await output(filler, 'head -c 19000000 /dev/zero > /srv/filler');
      const filled = await filler.snapshot('filesystem').catch(() => undefined);
      const names = await readdir(join(stateDir, 'snapshots'));
      if (filled) await assert.rejects(provider.importSnapshot(archive, 'filesystem'), LimitExceeded);
      else archive.destroy();
      assert.deepEqual(await readdir(join(stateDir, 'snapshots')), names);
      await Promise.all([sandbox.terminate(), filler.terminate()]);
    } finally {
      await provider.close();
      await runCommand('umount', [stateDir]);
      await rm(stateDir, { recursive: true, force: true });
    }
  });

  it('a sandbox that cannot be written down is not made, and nothing of it stays open', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-bubblewrap-'));
    const provider = createProvider({ stateDir, log: console.error });
    try {
      assert.ok((await provider.check()).ok);
      await rm(join(stateDir, 'sandboxes'), { recursive: true });
      await writeFile(join(stateDir, 'sandboxes'), 'no folder');
      await assert.rejects(provider.create({}, await bench.spec()), { code: 'ENOTDIR' });
      await provider.close();
      assert.deepEqual(await openBelow(stateDir), []);
    } finally {
      await rm(stateDir, { recursive: true, force: true });
    }
  });

  describe('the root', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'rl root, with: odd \\ chars '));
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('can be a folder of the host, which is never written to', async () => {
      await makeRoot(folder);
      const digest = await bench.provider.resolve({ image: folder });
      const sandbox = await bench.provider.create({ image: folder }, await bench.spec());
      try {
        assert.equal(await output(sandbox, 'while read -r line; do echo "$line"; done < /marker; echo changed > /marker; echo new > /new'), 'from the folder\n');
        await sandbox.files.write('/made/by/tools', 'works without any program in the image');
        const snapshot = await sandbox.snapshot('filesystem');
        const again = await bench.restore({}, snapshot);
        assert.equal(await output(again, 'read -r line < /marker; echo "$line"; ls /made/by'), 'changed\ntools\n');
        await again.terminate();
        await bench.provider.removeSnapshot(snapshot);
      } finally {
        await sandbox.terminate();
      }
      assert.equal(await bench.provider.resolve({ image: folder }), digest);
      await writeFile(join(folder, 'marker'), 'another content\n');
      assert.notEqual(await bench.provider.resolve({ image: folder }), digest);
    });

    it('that does not exist, or is a Dockerfile, is refused', async () => {
      await assert.rejects(bench.provider.resolve({ image: join(folder, 'missing') }), BuildFailed);
      await assert.rejects(bench.provider.create({ dockerfile: { file: '/x/Dockerfile', context: '/x' } }, await bench.spec()), Unsupported);
    });

    it('by default holds nothing of the host but its programs and what they need', async () => {
      const sandbox = await bench.restore();
      assert.equal(await output(sandbox, 'ls -A /root /home /opt /media /mnt /run'), ['home', 'media', 'mnt', 'opt', 'root', 'run'].map((name) => `/${name}:\n`).sort().join('\n'));
      const people = (await output(sandbox, 'cat /etc/passwd')).split('\n').filter((line) => Number(line.split(':')[2]) >= 1000 && !line.startsWith('nobody:'));
      assert.deepEqual(people, []);
      assert.doesNotMatch(await output(sandbox, 'cat /etc/shadow'), /\$/);
      assert.equal((await run(sandbox, `ls ${join(process.cwd(), 'package.json')}`)).code, 2);
    });
  });

  it('the folder of state may have any name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rl state, with: odd \\ "chars" ünï '));
    const provider = createProvider({ stateDir: folder, log: console.error });
    try {
      assert.equal((await provider.check()).ok, true);
      const sandbox = await provider.create({}, await bench.spec());
      await output(sandbox, 'echo x > /srv/x');
      const snapshot = await sandbox.snapshot('filesystem');
      const again = await provider.restore(snapshot, await bench.spec());
      assert.equal(await output(again, 'cat /srv/x'), 'x\n');
      await again.terminate();
    } finally {
      await provider.close();
      await rm(folder, { recursive: true });
    }
  });

  it('a setup that takes its own permissions away leaves a folder that can be removed', async () => {
    const sandbox = await bench.create();
    await output(sandbox, 'mkdir -p /srv/locked/inner; touch /srv/locked/inner/f; chmod 000 /srv/locked/inner /srv/locked');
    await sandbox.terminate();
    await bench.subject.assertNothingLeft!(sandbox.id);
  });

  it('what a dead process left half done is removed', async () => {
    const { stateDir } = bench.subject.context;
    const dead = '4194304_1_another-boot';
    for (const left of [`snapshots/0123456789ab.${dead}.partial/l0`, `run/${dead}-abcdef`, 'work/bw-0123456789abcdef/u']) await mkdir(join(stateDir, left), { recursive: true });
    const provider = createProvider({ stateDir, log: console.error });
    const sandbox = await provider.create({}, await bench.spec());
    await provider.removeSnapshot(await sandbox.snapshot('filesystem'));
    await provider.close();
    const names = (await Promise.all(['snapshots', 'run', 'work'].map((name) => readdir(join(stateDir, name))))).flat();
    assert.deepEqual(names.filter((name) => name.includes('another-boot') || name === 'bw-0123456789abcdef'), []);
  });

  /** Whose sandboxes there can be. */
  const users = asRoot ? [undefined, '1234:1234'] : [undefined];

  for (const user of users) describe(`the first process${user === undefined ? '' : ' of another user'}`, () => {
    it('cannot be killed, read or steered from inside', async () => {
      const sandbox = await bench.restore({ user });
      for (const attempt of ['kill -9 1; kill -TERM 1; kill -STOP 1; false', 'cat /proc/1/mem', 'cat /proc/1/environ', 'ls -l /proc/1/fd/', 'readlink /proc/1/exe', 'echo x > /proc/1/mem', 'echo exit > /proc/1/fd/0', 'chmod 755 /.rl/ld.so', 'rm /.rl/sh', 'mv /.rl /rl', 'echo > /.rl/new'])
        assert.notEqual((await run(sandbox, attempt)).code, 0, attempt);
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('outlives a command that kills everything', async () => {
      const sandbox = await bench.restore({ user });
      assert.equal((await run(sandbox, 'kill -9 -1; kill -9 $$')).code, 137);
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('ends with what started it, also while a command runs on it', async () => {
      const sandbox = await bench.restore({ user });
      const child = sandbox.exec(['sh', '-c', 'echo up; sleep 300']);
      child.stderr.resume();
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const { stdout } = await runCommand('ps', ['--ppid', String(process.pid), '-o', 'pid=,comm=']);
      // Other tests' starters may be on their way out.
      for (const [, starter] of stdout.matchAll(/(\d+) perl/g)) process.kill(Number(starter), 'SIGKILL');
      await assert.rejects(child.exit, SandboxLost);
      await until(async () => (await processesOf(sandbox.id)).length === 0, 'its processes to be gone');
      assert.equal(await output(await bench.restore({ user }), 'echo again'), 'again\n');
    });

    it('lets commands have no descriptors but their own three', async () => {
      const sandbox = await bench.restore({ user });
      // The shell opens one for the listing.
      for (const options of [{}, { stdin: '' }]) assert.equal((await output(sandbox, 'ls /proc/self/fd | wc -l', options)).trim(), '4');
    });
  });

  it('a limit of processes counts those of the sandbox alone, however many its user has', async () => {
    // This process has more threads than that.
    const sandboxes = await Promise.all(Array.from({ length: 4 }, () => bench.restore({ resources: { pids: 6 } })));
    const said = sandboxes.map((sandbox) => output(sandbox, 'echo here | cat; (for i in $(seq 9); do sleep 300 & done) 2>/dev/null; :'));
    assert.deepEqual(await Promise.all(said), sandboxes.map(() => 'here\n'));
  });

  it('what was being started when its owner was killed is ended by the next provider, and nothing that has a parent', async function () {
    if (!asRoot) skip(this, 'control groups can only be made by root here');
    const [hierarchy] = await findHierarchies('/bin/sh');
    if (!hierarchy) skip(this, 'there are no control groups');
    // An owner that has ended.
    const group = join(hierarchy.folder, `${(await runCommand('sh', ['-c', 'echo $$'])).stdout.trim()}_1_ended.1`);
    await mkdir(group);
    const enter = `echo $$ > ${join(group, 'cgroup.procs')}; exec sleep 300`;
    const child = spawn('sh', ['-c', enter], { stdio: 'ignore' });
    const orphan = Number((await runCommand('sh', ['-c', `sh -c '${enter}' >/dev/null 2>&1 & echo $!`])).stdout);
    const members = async () => (await readFile(join(group, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean).map(Number).sort((a, b) => a - b);
    try {
      await until(async () => (await members()).length === 2, 'both to be in the group');
      await findHierarchies('/bin/sh');
      await until(async () => (await members()).length === 1, 'the orphan to be gone');
      assert.deepEqual(await members(), [child.pid]);
    } finally {
      for (const pid of [child.pid!, orphan]) try { process.kill(pid, 'SIGKILL'); } catch { /* It is gone. */ }
      await removeGroup(group);
    }
  });

  it('a folder to write to that is a link in the snapshot is refused: outside it would lead elsewhere', async () => {
    const sandbox = await bench.restore();
    await output(sandbox, 'mkdir /srv/real; ln -s /etc /srv/out; ln -s /srv/real /srv/in');
    const snapshot = await sandbox.snapshot('filesystem');
    for (const folder of ['/srv/out', '/srv/in/below', '/srv/out/x']) await assert.rejects(bench.restore({ writable: [folder] }, snapshot), /reached by a link/);
    assert.equal(await output(await bench.restore({ writable: ['/srv/real'] }, snapshot), 'echo x > /srv/in/x; cat /srv/real/x'), 'x\n');
    await bench.terminateAll();
    await bench.provider.removeSnapshot(snapshot);
  });

  it('nothing under /proc can be written to but what belongs to a process', async () => {
    const sandbox = await bench.restore();
    const find = 'find /proc -maxdepth 5 \\( -path "/proc/[0-9]*" -o -path /proc/self -o -path /proc/thread-self \\) -prune -o -type f -writable -print 2>/dev/null | head -n 5';
    // Pressure files are writable for everyone, to be notified.
    assert.deepEqual((await output(sandbox, find)).split('\n').filter((line) => line !== '' && !line.startsWith('/proc/pressure/')), []);
  });

  it('what is in /dev/shm counts as written, and /dev holds no more', async function () {
    await needDiskLimit(this);
    const sandbox = await bench.restore({ resources: { disk: 8 << 20 } });
    assert.match((await run(sandbox, 'head -c 32m /dev/zero > /dev/shm/fill')).stderr, /No space left/);
    assert.match((await run(sandbox, 'echo > /dev/new')).stderr, /Read-only/);
  });

  it('many files count against the disk too', async function () {
    await needDiskLimit(this);
    const sandbox = await bench.restore({ resources: { disk: 1 << 20 } });
    assert.match((await run(sandbox, 'i=0; while [ $i -lt 3000 ]; do : > /srv/$i || exit 1; i=$((i+1)); done')).stderr, /No space left/);
  });

  it('check says what is missing', async function () {
    if (!asRoot) {
      skip(this, 'only root can hide a program');
    }
    const checked = async (hide: string): Promise<Health> => {
      const script = `mount --bind /dev/null "$1" && exec "$2" --import tsx "$3" "$4"`;
      const program = (await runCommand('sh', ['-c', `readlink -f "$(command -v ${hide})"`])).stdout.trim();
      const { stdout, stderr } = await runCommand('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', program, process.execPath, CHECK, bench.subject.context.stateDir]);
      assert.notEqual(stdout, '', stderr);
      return JSON.parse(stdout) as Health;
    };
    const health = await checked('bwrap');
    assert.equal(health.ok, false);
    assert.equal(health.code, 'not-installed');
    assert.match(health.hint!, /apt-get install bubblewrap/);
    assert.equal((await checked('nsenter')).code, 'not-installed');
  });

  it(`says ${asRoot ? 'that' : 'why no'} packages can be installed`, async () => {
    assert.equal(bench.provider.capabilities.aptPackages, asRoot);
    const health = await bench.provider.check();
    assert.match(health.details!['apt packages']!, asRoot ? /can be installed/ : /cannot be installed/);
  });
});
