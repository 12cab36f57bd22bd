/** `serve --api e2b`, by the vendor's own SDK: its clients get sandboxes of this machine. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CommandExitError, FileNotFoundError, Sandbox, SandboxNotFoundError, Template, TimeoutError, type ConnectionOpts } from 'e2b';
import type { EpisodeRecord } from '../../src/store/records.js';
import { until } from '../integration/conformance/bench.js';
import { HELLO, Workspace, type Running } from './support.js';

interface Variables {
  readonly E2B_API_URL: string;
  readonly E2B_SANDBOX_URL: string;
  readonly E2B_API_KEY: string;
}

interface Served extends Running {
  readonly options: ConnectionOpts;
  readonly log: () => string;
}

async function serve(workspace: Workspace, env: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<Served> {
  const running = workspace.start(['serve', '--api', 'e2b', '--provider', 'bubblewrap', '--json', ...args], env);
  const [line] = (await Promise.race([once(running.child.stdout!, 'data'), running.result.then(({ stderr }) => Promise.reject(new Error(stderr)))])) as [Buffer];
  const { E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl, E2B_API_KEY: apiKey = env.RL_SANDBOXES_SERVE_KEY } = JSON.parse(line.toString()) as Variables;
  return { ...running, options: { apiUrl, sandboxUrl, apiKey, requestTimeoutMs: 60_000 }, log: () => line.toString() };
}

describe('serve --api e2b, by the official SDK', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  let served: Served;
  const open: Sandbox[] = [];
  const create = async (template: string, more = {}): Promise<Sandbox> => {
    const sandbox = await Sandbox.create(template, { ...served.options, ...more });
    open.push(sandbox);
    return sandbox;
  };
  const left = async (): Promise<number> => (await Sandbox.list(served.options).nextItems()).length;

  before(async () => {
    workspace = await Workspace.make();
    await workspace.template('prepared', 'env: {FROM: template}\nsetup: [{run: echo ready > /srv/state}]\nepisode: {run: "true"}\nreward: exit_code\n');
    served = await serve(workspace);
  });
  after(async () => {
    served?.child.kill('SIGINT');
    await served?.result;
    await workspace?.remove();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sandbox) => sandbox.kill()));
    assert.equal(await left(), 0);
  });

  it('a template of the workspace is built on first use; commands, files and ends are as the SDK expects them', async () => {
    const sandbox = await create('prepared', { envs: { OWN: 'client' }, metadata: { run: 'one & two' }, timeoutMs: 60_000 });
    const { commands, files } = sandbox;
    const { stdout, stderr, exitCode } = await commands.run('cat /srv/state; echo $FROM $OWN $MORE; pwd; echo err >&2', { cwd: '/srv', envs: { MORE: 'more' } });
    assert.deepEqual([stdout, stderr, exitCode], ['ready\ntemplate client more\n/srv\n', 'err\n', 0]);
    await assert.rejects(commands.run('exit 7'), (error) => error instanceof CommandExitError && error.exitCode === 7);
    await assert.rejects(commands.run('sleep 300', { timeoutMs: 300 }), TimeoutError);
    await assert.rejects(commands.run('true', { user: 'nobody' }), /done as root/);
    const reader = await commands.run('read line; echo "got $line"; sleep 300', { background: true, stdin: true });
    await reader.sendStdin('typed\n');
    const again = await (await Sandbox.connect(sandbox.sandboxId, served.options)).commands.connect(reader.pid);
    await until(() => Promise.resolve(reader.stdout === 'got typed\n'), 'what was typed to come back');
    assert.equal(await again.kill(), true);
    await assert.rejects(again.wait(), (error) => error instanceof CommandExitError && error.exitCode === 137);
    await files.write('/srv/a/text', 'héllo');
    await files.write('/srv/a/stream', new Blob([new Uint8Array(3_000_000)]).stream());
    assert.equal(await files.read('/srv/a/text'), 'héllo');
    assert.equal((await files.read('/srv/a/stream', { format: 'bytes' })).length, 3_000_000);
    await files.rename('/srv/a/text', '/srv/b');
    assert.deepEqual((await files.list('/srv')).map(({ name, type }) => [name, type]).sort(), [['a', 'dir'], ['b', 'file'], ['state', 'file']]);
    await files.remove('/srv/a');
    await assert.rejects(files.read('/srv/a/stream'), FileNotFoundError);
    assert.deepEqual((await Sandbox.list({ ...served.options, query: { metadata: { run: 'one & two' } } }).nextItems()).map(({ sandboxId }) => sandboxId), [sandbox.sandboxId]);
    const terminal = await sandbox.pty.create({ cols: 93, rows: 27, onData: () => undefined });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('exit 3\n'));
    await assert.rejects(terminal.wait(), (error) => error instanceof CommandExitError && error.exitCode === 3);
    await sandbox.setTimeout(500);
    await until(async () => !(await sandbox.isRunning()), 'the end of its time');
    await assert.rejects(sandbox.getInfo(), SandboxNotFoundError);
    assert.equal(await sandbox.kill(), false);
  });

  it('snapshots, forks, pauses of files; what cannot be is refused with the reason', async () => {
    const sandbox = await create('base');
    assert.equal((await sandbox.commands.run('echo here > /srv/mine; cat /proc/net/dev | grep -c eth; true')).stdout, '0\n', 'no network unless it is asked for');
    const { snapshotId } = await sandbox.createSnapshot({ name: 'mine' });
    assert.deepEqual((await sandbox.listSnapshots().nextItems()).map((each) => each.snapshotId), [snapshotId]);
    for (const name of [snapshotId, 'mine']) assert.equal((await (await create(name)).commands.run('cat /srv/mine')).stdout, 'here\n');
    const [child] = await sandbox.fork({ count: 1 });
    if (!(child instanceof Sandbox)) throw child;
    open.push(child);
    assert.equal((await child.commands.run('cat /srv/mine')).stdout, 'here\n');
    await assert.rejects(sandbox.pause(), /501.*keepMemory: false/);
    assert.equal(await sandbox.pause({ keepMemory: false }), true);
    assert.equal((await sandbox.getInfo()).state, 'paused');
    await sandbox.connect();
    assert.equal((await sandbox.commands.run('cat /srv/mine')).stdout, 'here\n');
    await Promise.all(open.splice(0).map((each) => each.kill()));
    assert.equal(await Sandbox.deleteSnapshot(snapshotId, served.options), true);
    await assert.rejects(create(snapshotId), /there is no template or snapshot of that name/);
    await assert.rejects(create('../outside'), /404/);
    await assert.rejects(create('base', { lifecycle: { onTimeout: 'pause' } }), /501/);
    await assert.rejects(create('base', { timeoutMs: 90_000_000 }), /24 hours/);
    await assert.rejects(create('base', { apiKey: `e2b_${'0'.repeat(40)}` }), { name: 'AuthenticationError' });
  });

  it('what the SDK\'s builder builds is a template, and a build that fails says why', async () => {
    const template = Template().fromBaseImage().setEnvs({ WORD: 'built' }).setWorkdir('/srv/app').runCmd('echo $WORD > word');
    await Template.build(template, { ...served.options, alias: 'by-sdk', cpuCount: 1, memoryMB: 512 });
    assert.equal((await (await create('by-sdk')).commands.run('cat /srv/app/word')).stdout, 'built\n');
    await assert.rejects(Template.build(Template().fromBaseImage().runCmd('echo because; exit 3'), { ...served.options, alias: 'broken' }), /because/);
    await assert.rejects(Template.build(Template().fromBaseImage(), { ...served.options, alias: 'prepared' }), /choose another name/);
  });

  it('what listens in a sandbox is reached by its host, and hears nothing of keys', async () => {
    const sandbox = await create('base');
    const answer = 'import http.server, sys\nclass H(http.server.BaseHTTPRequestHandler):\n  def do_POST(self):\n    body = self.rfile.read(int(self.headers["content-length"]))\n    said = (self.path + " " + body.decode() + " " + str("x-api-key" in self.headers)).encode()\n    self.send_response(201); self.send_header("content-length", str(len(said))); self.end_headers(); self.wfile.write(said)\nhttp.server.HTTPServer(("127.0.0.1", 3000), H).serve_forever()';
    await sandbox.files.write('/srv/server.py', answer);
    await sandbox.commands.run('python3 /srv/server.py', { background: true });
    const { port } = new URL(served.options.apiUrl!);
    const host = sandbox.getHost(3000);
    assert.equal(host, `3000-${sandbox.sandboxId}.localhost:${port}`);
    const ask = async (): Promise<{ status: number; said: string }> => {
      const asked = request({ host: '127.0.0.1', port, path: '/a?b', method: 'POST', headers: { host, 'x-api-key': 'secret' } }).end('body');
      const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
      return { status: response.statusCode, said: await text(response) };
    };
    await until(async () => (await ask()).status !== 502, 'the server to listen');
    assert.deepEqual(await ask(), { status: 201, said: '/a?b body False' });
  });

  it('the provider e2b of this project is a client like any other: the same rewards for the same seeds', async () => {
    const { apiUrl, sandboxUrl, apiKey } = served.options;
    const rewards = async (provider: string): Promise<string[]> => {
      const env = { E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl, E2B_API_KEY: apiKey, RL_SANDBOXES_E2B_CONCURRENT: '50', RL_SANDBOXES_E2B_CREATIONS_PER_SECOND: '50' };
      const { stdout, stderr } = await workspace.start(['run', HELLO, '--provider', provider, '-n', '8', '-c', '4', '--json'], env).result;
      assert.notEqual(stdout, '', stderr);
      const { directory } = JSON.parse(stdout) as { directory: string };
      const lines = (await readFile(join(directory, 'episodes.jsonl'), 'utf8')).split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as EpisodeRecord).map(({ seed, status, reward }) => `${seed} ${status} ${reward}`).sort();
    };
    const there = await rewards('e2b');
    assert.equal(there.length, 8);
    assert.deepEqual(there, await rewards('bubblewrap'));
  });

  it('at another address nobody enters without the key, nor a sandbox without its token', async () => {
    const other = await serve(workspace, {}, '--host', '127.0.0.2');
    try {
      const { apiUrl, sandboxUrl, apiKey } = other.options;
      assert.match(apiUrl!, /^http:\/\/127\.0\.0\.2:\d+$/);
      await assert.rejects(fetch(apiUrl!.replace('127.0.0.2', '127.0.0.1')), 'it listens there alone');
      const sandbox = await Sandbox.create('base', other.options);
      const refused = async (url: string, headers: Record<string, string>, method = 'GET'): Promise<number> => (await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers } })).status;
      for (const key of [undefined, '', served.options.apiKey!]) assert.equal(await refused(`${apiUrl}/v2/sandboxes`, key === undefined ? {} : { 'x-api-key': key }), 401);
      const aim = { 'e2b-sandbox-id': sandbox.sandboxId, 'x-api-key': apiKey! };
      assert.equal(await refused(`${sandboxUrl}/files?path=/etc/passwd`, aim), 401, 'the key of the account is none of a sandbox');
      assert.equal(await refused(`${sandboxUrl}/process.Process/List`, { ...aim, 'x-access-token': 'x' }, 'POST'), 401);
      const { stderr, code } = await workspace.run('serve', '--api', 'e2b', '--provider', 'bubblewrap', '--host', '192.0.2.1');
      assert.deepEqual([code, /192\.0\.2\.1 is no address of this machine/.test(stderr)], [2, true], stderr);
    } finally {
      other.child.kill('SIGINT');
      await other.result;
    }
  });

  it('Ctrl-C, SIGTERM and kill -9 leave nothing', async () => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const;
    await Promise.all(
      signals.map(async (signal) => {
        const other = await serve(workspace, { RL_SANDBOXES_SERVE_KEY: 'a-key-of-somebodys-own' });
        assert.ok(!other.log().includes('a-key-of-somebodys-own'));
        const sandbox = await Sandbox.create('base', other.options);
        await sandbox.fork();
        await sandbox.commands.run('sleep 300', { background: true });
        other.child.kill(signal);
        await other.result;
      }),
    );
    const pruned = await workspace.json<{ sandboxes: string[] }>('prune');
    assert.deepEqual(pruned.sandboxes, [], JSON.stringify(pruned));
  });
});
