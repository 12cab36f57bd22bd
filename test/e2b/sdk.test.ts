/** The vendor's own SDK against the simulator: what it can do here is what the simulator may claim to be. */
import { strict as assert } from 'node:assert';
import { CommandExitError, FileNotFoundError, RateLimitError, Sandbox, SandboxNotFoundError, Template, TimeoutError, type ConnectionOpts } from 'e2b';
import { Simulated } from './simulated.js';

describe('the simulator of E2B, by the official SDK', function () {
  this.timeout(30_000);
  let simulated: Simulated;
  let options: ConnectionOpts;
  const open: Sandbox[] = [];
  const create = async (template = 'base', more = {}): Promise<Sandbox> => {
    const sandbox = await Sandbox.create(template, { ...options, ...more });
    open.push(sandbox);
    return sandbox;
  };

  before(async () => {
    simulated = await Simulated.start();
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = simulated.environment;
    options = { apiKey, apiUrl, sandboxUrl };
  });
  after(() => simulated?.close());
  afterEach(async () => {
    await simulated.faults({});
    await Promise.all(open.splice(0).map((sandbox) => sandbox.kill()));
  });

  it('creates, finds by metadata page by page, gives more time, and kills, twice', async () => {
    const sandboxes = await Promise.all(['a', 'b', 'c'].map((which) => create('base', { metadata: { run: 'one two & three', which }, timeoutMs: 60_000 })));
    const pages = Sandbox.list({ ...options, query: { metadata: { run: 'one two & three' } }, limit: 2 });
    const found = [...(await pages.nextItems()), ...(await pages.nextItems())];
    assert.equal(pages.hasNext, false);
    assert.deepEqual(found.map(({ metadata }) => metadata.which).sort(), ['a', 'b', 'c']);
    await sandboxes[0]!.setTimeout(600_000);
    const { endAt, state, metadata } = await sandboxes[0]!.getInfo();
    assert.ok(endAt.getTime() > Date.now() + 500_000);
    assert.deepEqual([state, metadata.which], ['running', 'a']);
    assert.equal(await sandboxes[1]!.isRunning(), true);
    assert.equal(await sandboxes[1]!.kill(), true);
    assert.equal(await sandboxes[1]!.kill(), false);
    assert.equal(await sandboxes[1]!.isRunning(), false);
    await assert.rejects(sandboxes[1]!.getInfo(), SandboxNotFoundError);
    assert.equal((await sandboxes[2]!.getMetrics()).length, 1);
    await assert.rejects(Sandbox.create('base', { ...options, timeoutMs: 90_000_000 }), /timeout/);
    await assert.rejects(Sandbox.create('no-such-template', options), /not found/);
  });

  it('runs commands: output as it comes, exit codes, environment, folder, input, signals, a deadline', async () => {
    const { commands } = await create('base', { envs: { FROM_SANDBOX: 's' } });
    const pieces: string[] = [];
    const { stdout, stderr, exitCode } = await commands.run('echo out; echo err >&2; echo "$FROM_SANDBOX $OWN"; pwd', { onStdout: (text) => void pieces.push(text), envs: { OWN: 'o' }, cwd: '/usr' });
    assert.deepEqual([stdout, stderr, exitCode, pieces.join('')], ['out\ns o\n/usr\n', 'err\n', 0, stdout]);
    await assert.rejects(commands.run('exit 7'), (error) => error instanceof CommandExitError && error.exitCode === 7);
    const reader = await commands.run('cat; echo end', { background: true, stdin: true });
    await reader.sendStdin('typed ');
    await reader.sendStdin('twice\n');
    await reader.closeStdin();
    assert.equal((await reader.wait()).stdout, 'typed twice\nend\n');
    const sleeper = await commands.run('echo up; sleep 300', { background: true });
    assert.ok((await commands.list()).some(({ pid }) => pid === sleeper.pid));
    const listener = await commands.connect(sleeper.pid);
    assert.equal(await sleeper.kill(), true);
    await assert.rejects(sleeper.wait(), CommandExitError);
    await assert.rejects(listener.wait(), CommandExitError);
    await assert.rejects(commands.run('sleep 300', { timeoutMs: 300 }), TimeoutError);
  });

  it('has a terminal that is one', async () => {
    const sandbox = await create();
    let shown = '';
    const terminal = await sandbox.pty.create({ cols: 93, rows: 27, onData: (data) => void (shown += Buffer.from(data).toString()) });
    await sandbox.pty.resize(terminal.pid, { cols: 120, rows: 50 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size; tty; exit 3\n'));
    await assert.rejects(terminal.wait(), (error) => error instanceof CommandExitError && error.exitCode === 3);
    assert.match(shown, /50 120\r\n\/dev\/pts\/0/);
  });

  it('keeps files: text, bytes, streams, folders, signed links', async () => {
    const { files, ...sandbox } = await create().then((each) => ({ files: each.files, downloadUrl: each.downloadUrl.bind(each), uploadUrl: each.uploadUrl.bind(each) }));
    await files.write('/srv/a/text', 'héllo');
    await files.write('/srv/a/stream', new Blob([new Uint8Array(300_000)]).stream());
    await files.write([{ path: '/srv/a/one', data: '1' }, { path: '/srv/a/two', data: '2' }]);
    assert.equal(await files.read('/srv/a/text'), 'héllo');
    assert.equal((await files.read('/srv/a/stream', { format: 'bytes' })).length, 300_000);
    assert.equal((await new Response(await files.read('/srv/a/stream', { format: 'stream' })).arrayBuffer()).byteLength, 300_000);
    assert.deepEqual((await files.list('/srv/a')).map(({ name, type, size }) => [name, type, size]).sort(), [['one', 'file', 1], ['stream', 'file', 300_000], ['text', 'file', 6], ['two', 'file', 1]]);
    assert.equal(await files.makeDir('/srv/b'), true);
    assert.equal(await files.makeDir('/srv/b'), false);
    assert.equal((await files.rename('/srv/a/one', '/srv/b/moved')).path, '/srv/b/moved');
    assert.deepEqual([await files.exists('/srv/a/one'), await files.exists('/srv/b/moved')], [false, true]);
    await files.remove('/srv/b');
    assert.equal(await files.exists('/srv/b/moved'), false);
    await assert.rejects(files.read('/srv/none'), FileNotFoundError);
    const link = await sandbox.downloadUrl('/srv/a/text', { useSignatureExpiration: 60 });
    assert.equal(await (await fetch(link)).text(), 'héllo');
    assert.equal((await fetch(link.replace(/signature=v1_...../, 'signature=v1_AAAAA'))).ok, false);
  });

  it('builds templates, takes snapshots, forks, pauses and goes on', async () => {
    const template = Template().fromImage('debian:bookworm').setEnvs({ WORD: 'built' }).runCmd('echo $WORD > /srv/word');
    const lines: string[] = [];
    await Template.build(template, { ...options, alias: 'sdk-suite', cpuCount: 1, memoryMB: 1024, onBuildLogs: ({ message }) => void lines.push(message) });
    assert.match(lines.join('\n'), /debian:bookworm[^]*RUN/);
    assert.equal(await Template.exists('sdk-suite', options), true);
    await assert.rejects(Template.build(Template().fromImage('debian:bookworm').runCmd('exit 3'), { ...options, alias: 'broken' }), /exit status 3/);
    const sandbox = await create('sdk-suite');
    assert.equal((await sandbox.commands.run('cat /srv/word; echo more > /srv/more')).stdout, 'built\n');
    const { snapshotId } = await sandbox.createSnapshot();
    assert.deepEqual((await sandbox.listSnapshots().nextItems()).map((each) => each.snapshotId), [snapshotId]);
    assert.equal((await (await create(snapshotId)).commands.run('cat /srv/more')).stdout, 'more\n');
    const children = await sandbox.fork({ count: 2 });
    for (const child of children) {
      if (!(child instanceof Sandbox)) throw child;
      open.push(child);
      assert.equal((await child.commands.run('cat /srv/more')).stdout, 'more\n');
    }
    assert.equal(await sandbox.pause(), true);
    assert.equal(await sandbox.isRunning(), false);
    assert.equal((await sandbox.getInfo()).state, 'paused');
    await sandbox.connect();
    assert.equal((await sandbox.commands.run('cat /srv/more')).stdout, 'more\n');
    await sandbox.pause({ keepMemory: false });
    await sandbox.connect();
    assert.equal((await sandbox.commands.run('cat /srv/more')).stdout, 'more\n');
    assert.equal(await Sandbox.deleteSnapshot(snapshotId, options), true);
    await assert.rejects(Sandbox.create(snapshotId, options), /not found/);
  });

  it('refuses a wrong key, ends sandboxes in time, and fails as it is told to', async () => {
    await assert.rejects(Sandbox.create('base', { ...options, apiKey: 'e2b_wrong' }), { name: 'AuthenticationError' });
    const short = await create('base', { timeoutMs: 1000 });
    await assert.rejects(short.commands.run('sleep 300'));
    assert.equal(await short.isRunning(), false);
    await simulated.faults({ rateLimit: 1 });
    await assert.rejects(Sandbox.create('base', { ...options, retries: 0 }), RateLimitError);
    await simulated.faults({ serverError: 1 });
    await assert.rejects(Sandbox.create('base', options));
    await simulated.faults({ lostReply: 1 });
    await assert.rejects(Sandbox.create('base', options));
    await simulated.faults({});
    const [orphan] = (await simulated.state()).sandboxes;
    assert.ok(orphan, 'a creation whose answer was lost took place');
    await Sandbox.kill(orphan.sandboxID, options);
    await simulated.faults({ zombie: 1 });
    await assert.rejects((await create()).commands.run('true'));
    await simulated.faults({});
    const sandbox = await create();
    await simulated.faults({ reset: 1 });
    await assert.rejects(sandbox.commands.run('echo x'));
    await simulated.faults({ vanish: 1 });
    await assert.rejects(sandbox.commands.run('echo x'));
    await simulated.faults({});
    assert.equal(await sandbox.isRunning(), false);
  });
});
