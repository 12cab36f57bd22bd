/** What goes wrong: aborted creations, a missing GPU, a stuck sandbox, an engine that stops. */
import { strict as assert } from 'node:assert';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Docker from 'dockerode';
import { startEngine } from '../../../scripts/setup/dockerEngine.mjs';
import { createProvider } from '../../../src/sandbox/docker/index.js';
import { OperationTimeout, ProviderUnavailable, SandboxError, Unsupported } from '../../../src/sandbox/errors.js';
import type { Provider } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { Bench, commandLines, ignoreOutput, output, until } from '../conformance/bench.js';
import { dockerSubject, type DockerSubject } from './subject.js';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** A stop reaches the threads of a process one after the other: until the last has it, a request may still be answered. */
const standsStill = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')));

describe('docker faults', function () {
  this.timeout(120_000);
  const bench = new Bench();
  let subject: DockerSubject;

  before(async function () {
    this.timeout(600_000);
    subject = await dockerSubject();
    await bench.start(subject);
  });
  afterEach(() => bench.terminateAll());
  after(() => bench.stop());

  const containers = () => subject.containers();

  it('leave no container when a creation is aborted at any moment', async () => {
    const outcomes = new Set<string>();
    for (let delay = 0; delay < 200; delay += 12) {
      const abort = new AbortController();
      const restoring = bench.provider.restore(bench.snapshot, await bench.spec(), { signal: abort.signal });
      setTimeout(() => abort.abort(new Error('stop')), delay);
      const sandbox = await restoring.catch((error: Error) => error);
      outcomes.add(sandbox instanceof Error ? sandbox.message : 'made');
      if (!(sandbox instanceof Error)) await sandbox.terminate();
      assert.deepEqual(await containers(), [], `aborted after ${delay} ms`);
    }
    assert.ok(outcomes.has('stop'));
    assert.ok([...outcomes].every((outcome) => outcome === 'stop' || outcome === 'made'), [...outcomes].join('; '));
  });

  it('leave no container when a creation takes too long, or its snapshot is gone', async () => {
    await assert.rejects(bench.provider.restore(bench.snapshot, await bench.spec(), { timeoutMs: 20 }), OperationTimeout);
    await assert.rejects(bench.restore({}, { ...bench.snapshot, ref: `sha256:${'0'.repeat(64)}` }), SandboxError);
    await until(async () => (await containers()).length === 0, 'the container to be removed');
  });

  it('include a GPU that is not there, before anything has run', async function () {
    const info = (await subject.docker.info()) as { Runtimes?: Record<string, unknown> };
    if (info.Runtimes && 'nvidia' in info.Runtimes) skip(this, 'this engine has GPUs');
    await assert.rejects(bench.withResources({ gpu: { count: 1 } }), (error: Error) => error instanceof Unsupported && /GPU/.test(error.message));
    assert.deepEqual(await containers(), []);
  });

  it('do not keep killAll from killing where the first process cannot answer', async function () {
    if (!isRoot) skip(this, 'only root can stop a process of a container from outside');
    const sandbox = await bench.restore();
    await output(sandbox, 'echo kept > /srv/kept; sleep 7100 &');
    const { State } = await subject.docker.getContainer(`rl-${sandbox.id}`).inspect();
    process.kill(State.Pid, 'SIGSTOP');
    await sandbox.killAll();
    assert.deepEqual((await commandLines(sandbox)).filter((line) => line.startsWith('sleep 7100')), []);
    assert.equal(await output(sandbox, 'cat /srv/kept'), 'kept\n');
  });

  it('collect no zombies while commands come and go', async () => {
    const sandbox = await bench.restore({ resources: { pids: 40 } });
    for (let time = 0; time < 5; time++) await output(sandbox, 'i=0; while [ $i -lt 20 ]; do (sleep 0.01 &); i=$((i+1)); done');
    await until(async () => (await output(sandbox, 'grep -h "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l')).trim() === '0', 'the orphans to be collected');
  });

  it('include an engine that is reached through ssh', async function () {
    if (process.platform === 'win32') skip(this, 'the stand-in for ssh is a shell script');
    const folder = await mkdtemp(join(tmpdir(), 'rl-ssh-'));
    const { PATH, DOCKER_HOST } = process.env;
    try {
      // In place of ssh: what it would run on the other machine, run here.
      await writeFile(join(folder, 'ssh'), `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\n[ "$2" = far ] || { echo "no route to $2" >&2; exit 255; }\nshift 2\nDOCKER_HOST='${DOCKER_HOST}' exec "$@"\n`);
      await chmod(join(folder, 'ssh'), 0o755);
      process.env.PATH = `${folder}${delimiter}${PATH}`;
      process.env.DOCKER_HOST = 'ssh://me@far';
      const far = createProvider({ stateDir: folder, log: () => undefined });
      const health = await far.check();
      assert.match(health.summary, /at ssh:\/\/me@far$/);
      const sandboxes = await Promise.all(Array.from({ length: 4 }, async () => far.restore(bench.snapshot, await bench.spec())));
      assert.deepEqual(await Promise.all(sandboxes.map((sandbox) => output(sandbox, 'cat /srv/task/state; cat', { stdin: 'in' }))), Array(4).fill('prepared\nin'));
      await Promise.all(sandboxes.map((sandbox) => sandbox.terminate()));
      await far.close();
      process.env.DOCKER_HOST = 'ssh://nowhere';
      const nowhere = createProvider({ stateDir: folder, log: () => undefined });
      const missing = await nowhere.check();
      assert.equal(missing.ok, false);
      assert.match(missing.summary, /no route to nowhere/);
      await nowhere.close();
    } finally {
      Object.assign(process.env, { PATH, DOCKER_HOST });
      await rm(folder, { recursive: true });
    }
  });
});

describe('docker engine that stops', function () {
  this.timeout(180_000);
  const bench = new Bench();
  let folder: string;
  let engine: Awaited<ReturnType<typeof startEngine>>;
  let provider: Provider;
  let hostBefore: string | undefined;
  const start = () => startEngine(join(folder, 'data'), { apart: true, args: ['--bridge', 'none', '--iptables=false'] });
  const pid = () => Number(readFileSync(engine.pidFile, 'utf8'));

  before(async function () {
    this.timeout(600_000);
    if (!isRoot) skip(this, 'only root can start an engine of its own');
    const lender = await dockerSubject();
    hostBefore = process.env.DOCKER_HOST;
    folder = await mkdtemp(join(tmpdir(), 'rl-engine-'));
    engine = await start();
    const docker = new Docker({ socketPath: engine.socket });
    const stream = await docker.loadImage(await lender.docker.getImage(lender.image).get());
    for await (const _ of stream) void _;
    process.env.DOCKER_HOST = engine.host;
    provider = createProvider({ stateDir: folder, log: () => undefined });
    await bench.start({ ...lender, provider, close: lender.close });
  });
  after(async () => {
    if (engine === undefined) return;
    await bench.provider.close();
    await bench.subject.close?.();
    await engine.stop();
    process.env.DOCKER_HOST = hostBefore;
    await rm(folder, { recursive: true, force: true });
  });

  const busy = async () => {
    const sandbox = await provider.restore(bench.snapshot, await bench.spec());
    const child = sandbox.exec(['sh', '-c', 'echo up; sleep 300']);
    child.stderr.resume();
    await new Promise((resolve) => child.stdout.once('data', resolve));
    return { sandbox, child };
  };

  it('by kill -9 ends what waits for it, at once and as unavailable; it is found again', async () => {
    const { sandbox, child } = await busy();
    const second = sandbox.exec(['sh', '-c', 'sleep 300']);
    ignoreOutput(second);
    const ends = Promise.all([assert.rejects(child.exit, ProviderUnavailable), assert.rejects(second.exit, SandboxError)]);
    await pause(300);
    process.kill(pid(), 'SIGKILL');
    await ends;
    await assert.rejects(provider.list(), (error: ProviderUnavailable) => error instanceof ProviderUnavailable && error.hint !== '');
    await assert.rejects(sandbox.terminate(), ProviderUnavailable);
    await assert.rejects(provider.restore(bench.snapshot, await bench.spec()), ProviderUnavailable);
    const health = await provider.check();
    assert.deepEqual([health.ok, health.code], [false, 'not-running']);
    engine = await start();
    assert.equal((await provider.check()).ok, true);
    for (const { id } of await provider.list()) await provider.terminate(id);
    assert.deepEqual(await provider.list(), []);
    const again = await provider.restore(bench.snapshot, await bench.spec());
    assert.equal(await output(again, 'cat /srv/task/state'), 'prepared\n');
    await again.terminate();
  });

  it('for a while ends no wait, but every wait has its deadline', async () => {
    const { sandbox, child } = await busy();
    process.kill(pid(), 'SIGSTOP');
    await until(() => Promise.resolve(standsStill(pid())), 'every thread of the engine to stand still');
    try {
      await assert.rejects(provider.list({ timeoutMs: 500 }), OperationTimeout);
      await assert.rejects(provider.restore(bench.snapshot, await bench.spec(), { timeoutMs: 500 }), SandboxError);
      const health = await provider.check({ timeoutMs: 500 });
      assert.match(health.summary, /did not answer within 0\.5 s/);
      assert.match(health.hint!, /restart/);
      await assert.rejects(sandbox.terminate({ timeoutMs: 500 }), OperationTimeout);
    } finally {
      process.kill(pid(), 'SIGCONT');
    }
    child.exit.catch(() => undefined);
    await sandbox.terminate();
    await until(async () => (await provider.list()).length === 0, 'what was begun meanwhile to be gone');
  });

  it('in good order ends what waits for it, too', async () => {
    const { sandbox, child } = await busy();
    const end = assert.rejects(child.exit, SandboxError);
    process.kill(pid(), 'SIGTERM');
    await end;
    await until(async () => provider.list().then(() => false, (error: unknown) => error instanceof ProviderUnavailable), 'the engine to be gone');
    await assert.rejects(sandbox.terminate(), ProviderUnavailable);
  });
});
