/** The facade of E2B's protocol over an engine of containers, by the vendor's own SDK: what `test/cli/serve.test.ts` does over bubblewrap, and what runs while it is paused, snapshotted, forked. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandExitError, FileNotFoundError, Sandbox, Template, TimeoutError, type ConnectionOpts } from 'e2b';
import { Engine } from '../../src/engine/engine.js';
import { Service } from '../../src/facade/e2b/service.js';
import { LocalAccount } from '../../src/facade/local.js';
import type { Subject } from './conformance.js';
import { until } from './conformance/bench.js';
import { COUNTER, PORT } from './conformance/counter.js';

const KEY = `e2b_${'1'.repeat(40)}`;
const ASK = `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${PORT})).recv(9).decode())'`;

export function facade(provider: string, open: () => Promise<Subject & { readonly image: string }>): void {
  describe(`the facade of E2B over ${provider}, by the official SDK:`, function () {
    this.timeout(120_000);
    let subject: Subject & { readonly image: string };
    let engine: Engine;
    let account: LocalAccount;
    let server: Server;
    let root: string;
    let options: ConnectionOpts;
    const opened: Sandbox[] = [];
    const keep = (sandbox: Sandbox): Sandbox => (opened.push(sandbox), sandbox);
    const create = async (template = 'prepared'): Promise<Sandbox> => keep(await Sandbox.create(template, { ...options, envs: { OWN: 'client' } }));

    before(async function () {
      this.timeout(600_000);
      subject = await open();
      root = await mkdtemp(join(tmpdir(), 'rl-facade-'));
      await writeFile(join(root, 'prepared.rlenv.yaml'), `name: prepared\nimage: ${subject.image}\nenv: {FROM: template}\nsetup: [{run: echo ready > /srv/state}]\nepisode: {run: "true"}\nreward: exit_code\n`);
      engine = await Engine.open({ root });
      account = new LocalAccount(engine, { provider, log: () => undefined });
      await account.prepare(AbortSignal.timeout(60_000));
      const service = new Service(account, { apiKey: KEY, domain: () => null });
      server = createServer((request, response) => service.handle(request, response)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      options = { apiKey: KEY, apiUrl: url, sandboxUrl: url, requestTimeoutMs: 120_000 };
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((sandbox) => sandbox.kill()));
      assert.deepEqual([...account.live], []);
    });
    after(async () => {
      await account?.close();
      server?.close();
      server?.closeAllConnections();
      for (const record of (await engine?.snapshots.list()) ?? []) await engine.builds.remove(record, subject.provider);
      await engine?.close();
      if (root) await rm(root, { recursive: true, force: true });
      await subject?.provider.close();
      await subject?.close?.();
    });

    it('commands, input, signals, terminals, files', async () => {
      const { commands, files, pty } = await create();
      const { stdout, stderr } = await commands.run('cat /srv/state; echo $FROM $OWN $MORE; pwd; echo err >&2', { cwd: '/srv', envs: { MORE: 'more' } });
      assert.deepEqual([stdout, stderr], ['ready\ntemplate client more\n/srv\n', 'err\n']);
      await assert.rejects(commands.run('exit 7'), (error) => error instanceof CommandExitError && error.exitCode === 7);
      await assert.rejects(commands.run('sleep 300', { timeoutMs: 300 }), TimeoutError);
      const reader = await commands.run('cat; echo end', { background: true, stdin: true });
      await reader.sendStdin('typed\n');
      await reader.closeStdin();
      assert.equal((await reader.wait()).stdout, 'typed\nend\n');
      const sleeper = await commands.run('echo up; sleep 300', { background: true });
      assert.equal(await sleeper.kill(), true);
      await assert.rejects(sleeper.wait(), (error) => error instanceof CommandExitError && error.exitCode === 137);
      const terminal = await pty.create({ cols: 93, rows: 27, onData: () => undefined });
      await pty.sendInput(terminal.pid, Buffer.from('exit 3\n'));
      await assert.rejects(terminal.wait(), (error) => error instanceof CommandExitError && error.exitCode === 3);
      await files.write('/srv/a/text', 'héllo');
      await files.write('/srv/a/stream', new Blob([new Uint8Array(3_000_000)]).stream());
      assert.deepEqual([await files.read('/srv/a/text'), (await files.read('/srv/a/stream', { format: 'bytes' })).length], ['héllo', 3_000_000]);
      await files.rename('/srv/a/text', '/srv/b');
      await files.remove('/srv/a');
      assert.deepEqual((await files.list('/srv')).map(({ name }) => name).sort(), ['b', 'state']);
      await assert.rejects(files.read('/srv/a/stream'), FileNotFoundError);
    });

    it('what the SDK\'s builder builds', async () => {
      await Template.build(Template().fromImage(subject.image).setEnvs({ WORD: 'built' }).setWorkdir('/srv/app').runCmd('echo $WORD > word'), { ...options, alias: 'by-sdk', cpuCount: 1, memoryMB: 512 });
      assert.equal((await (await create('by-sdk')).commands.run('cat /srv/app/word')).stdout, 'built\n');
    });

    it('snapshots, forks and pauses: of memory where that can be, else of files, or with the reason why not', async () => {
      const { capabilities } = subject.provider;
      const health = await subject.provider.check();
      const copies = capabilities.memorySnapshot && health.noMemorySnapshots === undefined;
      const source = await create();
      const ask = async ({ commands }: Sandbox): Promise<number> => Number((await commands.run(ASK)).stdout);
      const { pid } = await source.commands.run(`exec python3 -c '${COUNTER}'`, { background: true });
      await until(() => ask(source).then(() => true, () => false), 'the server');
      const count = await ask(source);
      const { snapshotId } = await source.createSnapshot();
      const forks = (await source.fork({ count: 2 })).map((fork) => {
        if (!(fork instanceof Sandbox)) throw fork;
        return keep(fork);
      });
      for (const copy of [await create(snapshotId), ...forks]) {
        assert.equal((await copy.commands.run('cat /srv/state')).stdout, 'ready\n');
        if (copies) assert.deepEqual([await ask(copy), (await copy.commands.list()).map((each) => each.pid)], [count + 1, [pid]]);
        else await assert.rejects(ask(copy), CommandExitError);
      }
      const pauses = copies || (capabilities.suspend === true && health.noSuspend === undefined);
      if (pauses) {
        await source.pause();
        assert.equal((await source.getInfo()).state, 'paused');
        await source.connect();
        assert.equal(await ask(source), count + 1);
      } else await assert.rejects(source.pause(), /501/);
      await source.pause({ keepMemory: false });
      await source.connect();
      await assert.rejects(ask(source), CommandExitError);
      assert.equal((await source.commands.run('cat /srv/state')).stdout, 'ready\n');
      await Promise.all(opened.splice(0).map((each) => each.kill()));
      assert.equal(await Sandbox.deleteSnapshot(snapshotId, options), true);
      assert.deepEqual((await engine.snapshots.list()).filter(({ temporary }) => temporary !== undefined), []);
    });
  });
}
