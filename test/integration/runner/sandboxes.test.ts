/** What a window does with live sandboxes: over a real runner's socket. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, readlink, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { RunnerNotifications, RunnerRequests } from '../../../src/runner/api.js';
import { STREAM_WINDOW, type SandboxReport, type SnapshotReport } from '../../../src/runner/sandboxApi.js';
import { Home, processesWith, until, type Window } from './home.js';

type Params<K extends keyof RunnerRequests> = Omit<RunnerRequests[K]['params'], 'root'>;

describe('live sandboxes of a window', function () {
  this.timeout(120_000);
  let home: Home;
  let window: Window;
  let sandbox: SandboxReport;

  before(async () => {
    home = await Home.make();
    window = await home.window();
    const file = await home.template('hello', 'setup: [{run: "mkdir -p /srv/d && echo first > /srv/d/f"}]\nservices: [{name: tick, run: "while :; do echo tick; sleep 0.1; done"}]\nepisode: {run: "echo 1"}\n');
    sandbox = await window.client.request('sandbox/open', { root: home.root, file });
  });
  after(() => home.remove());

  const ask = <K extends keyof RunnerRequests>(method: K, params: Params<K>, from = window): Promise<RunnerRequests[K]['result']> => from.client.request(method, { root: home.root, ...params });
  const at = <T>(more: T): T & { id: string } => ({ id: sandbox.id, ...more });
  /** Collects a stream, acknowledging as it comes unless `acknowledges` says not to. */
  const collect = (from: Window, name: () => string | undefined, acknowledges = (): boolean => true) => {
    const got = { stdout: '', stderr: '', bytes: 0 };
    const early: RunnerNotifications['stream/data'][] = [];
    const take = ({ stream, channel, data }: RunnerNotifications['stream/data']): void => {
      if (stream !== name()) return;
      const piece = Buffer.from(data, 'base64');
      got.bytes += piece.length;
      if (got.bytes < 1 << 20) got[channel] += piece.toString('latin1');
      if (acknowledges()) void ask('stream/ack', { stream, bytes: piece.length }, from);
    };
    from.client.on('stream/data', take);
    return { got, early };
  };

  it('are listed for every window, with services and what they use', async () => {
    const other = await home.window();
    const [listed] = await ask('sandbox/list', { measure: true }, other);
    assert.deepEqual([listed!.id, listed!.origin, listed!.attached, listed!.services.map(({ name, state }) => `${name} ${state}`)], [sandbox.id, 'opened', true, ['tick ready']]);
    await until('the service to say something', async () => (await ask('sandbox/logs', at({ service: 'tick', from: 0 }))).text.includes('tick\ntick') || undefined);
    const extended = await ask('sandbox/extend', at({ keepMs: -1 }));
    assert.equal(extended.remainingMs, null);
    other.connection.close();
  });

  it('are snapshotted from the command line by their id', async () => {
    const cli = (...args: string[]) => promisify(execFile)(process.execPath, [resolve('dist/cli.mjs'), '--root', home.root, '--json', 'snapshot', 'create', ...args], { env: home.env, timeout: 60_000 });
    const { snapshot } = JSON.parse((await cli(sandbox.id, '--name', 'from outside')).stdout) as { snapshot: SnapshotReport };
    const { snapshots } = await ask('snapshot/list', {});
    assert.deepEqual(snapshots.filter(({ id }) => id === snapshot.id).map(({ name, origin }) => [name, origin]), [['from outside', 'sandbox']]);
    await assert.rejects(cli('no-such-thing'), (error: { stdout?: string }) => /there is no snapshot no-such-thing/.test(error.stdout ?? ''));
  });

  it('run commands whose output comes as it is written, with back-pressure, and end with their request', async () => {
    const { got } = collect(window, () => 'one');
    const status = await ask('sandbox/exec', at({ argv: ['sh', '-c', 'echo out; echo err >&2; cat; exit 3'], stdin: Buffer.from('typed').toString('base64'), stream: 'one' }));
    assert.deepEqual([status.code, got.stdout, got.stderr], [3, 'out\ntyped', 'err\n']);
    let taking = false;
    const flood = collect(window, () => 'two', () => taking);
    const stop = new AbortController();
    const running = window.client.request('sandbox/exec', { root: home.root, ...at({ argv: ['sh', '-c', 'yes marker-of-flood'], stream: 'two' }) }, { signal: stop.signal });
    await until('the window to be full', () => Promise.resolve(flood.got.bytes >= STREAM_WINDOW || undefined));
    const held = flood.got.bytes;
    assert.equal(await ask('sandbox/stats', at({})).then(({ pids }) => pids > 0), true);
    assert.ok(flood.got.bytes === held && held < STREAM_WINDOW + (256 << 10), `${held}`);
    taking = true;
    await ask('stream/ack', { stream: 'two', bytes: held });
    await until('more', () => Promise.resolve(flood.got.bytes > 2 * held || undefined));
    stop.abort(new Error('enough'));
    await assert.rejects(running, /enough/);
    await until('the command to be gone', async () => (await processesWith('marker-of-flood')).length === 0 || undefined);
  });

  it('have terminals: typed into, resized, ended with their code, and with the connection', async () => {
    const other = await home.window();
    let name: string | undefined;
    const ended: RunnerNotifications['terminal/exit'][] = [];
    other.client.on('terminal/exit', (exit) => ended.push(exit));
    const { got } = collect(other, () => name);
    name = (await ask('terminal/open', at({ size: { columns: 80, rows: 24 } }), other)).terminal;
    await ask('terminal/input', { terminal: name, data: 'echo ready""now\r' }, other);
    await until('the shell', () => Promise.resolve(/readynow/.test(got.stdout) || undefined));
    await ask('terminal/resize', { terminal: name, size: { columns: 111, rows: 33 } }, other);
    await ask('terminal/input', { terminal: name, data: 'stty size; exit 6\r' }, other);
    await until('its end', () => Promise.resolve(ended.length > 0 || undefined));
    assert.deepEqual(ended, [{ terminal: name, code: 6 }]);
    assert.match(got.stdout, /33 111/);
    name = (await ask('terminal/open', at({ argv: ['sh', '-c', 'echo up; exec sleep 98765'], size: { columns: 80, rows: 24 } }), other)).terminal;
    await until('the command', () => Promise.resolve(/up/.test(got.stdout) || undefined));
    other.connection.close();
    await until('the command to end with the connection', async () => (await processesWith('sleep', '98765')).length === 0 || undefined);
  });

  it('give and take files in pieces, names of any kind, what was there at first too', async () => {
    const name = '/srv/d/new ü\nline';
    const content = randomBytes(3_000_000);
    const { handle } = await ask('files/create', at({ path: name, mode: 0o755 }));
    for (let from = 0; from < content.length; from += 700_000) await ask('files/append', { handle, data: content.subarray(from, from + 700_000).toString('base64') });
    await ask('files/finish', { handle });
    assert.deepEqual(((info) => [info.type, info.size, info.mode])(await ask('files/stat', at({ path: name }))), ['file', content.length, 0o755]);
    const read = async (params: Params<'files/open'>): Promise<Buffer> => {
      const opened = await ask('files/open', params);
      const pieces: Buffer[] = [];
      for (let end = false; !end; ) {
        const piece = await ask('files/read', opened);
        pieces.push(Buffer.from(piece.data, 'base64'));
        end = piece.end;
      }
      await assert.rejects(ask('files/read', opened), /not open/);
      return Buffer.concat(pieces);
    };
    assert.ok((await read(at({ path: name }))).equals(content));
    assert.ok((await read(at({ path: name, offset: 1000, length: 5000 }))).equals(content.subarray(1000, 6000)));
    const again = await ask('files/create', at({ path: name }));
    await ask('files/append', { handle: again.handle, data: Buffer.from('short').toString('base64') });
    await ask('files/finish', again);
    assert.deepEqual(((info) => [info.size, info.mode])(await ask('files/stat', at({ path: name }))), [5, 0o755], 'the mode stays');
    await ask('files/rename', at({ from: name, to: '/srv/d/other' }));
    await assert.rejects(ask('files/rename', at({ from: '/srv/d/other', to: '/srv/d/f' })), (error: Error & { code?: string }) => error.code === 'FileExists');
    const over = await ask('files/create', at({ path: '/srv/d/f' }));
    await ask('files/append', { handle: over.handle, data: Buffer.from('second\n').toString('base64') });
    await ask('files/finish', over);
    assert.equal(String(await read(at({ path: '/srv/d/f', original: true }))), 'first\n');
    assert.deepEqual(await ask('sandbox/changes', at({})), [{ path: '/srv/d/f', kind: 'modified' }, { path: '/srv/d/other', kind: 'added' }]);
    await ask('files/mkdir', at({ path: '/srv/d/sub' }));
    await ask('files/remove', at({ path: '/srv/d/other' }));
    assert.deepEqual((await ask('files/list', at({ path: '/srv/d' }))).map((entry) => entry.name).sort(), ['f', 'sub']);
    for (const path of ['relative', '../up', 'nul\0']) await assert.rejects(ask('files/stat', at({ path })), /absolute/);
    await assert.rejects(ask('files/stat', at({ path: '/srv/none' })), (error: Error & { code?: string }) => error.code === 'NoSuchFile');
    const left = await ask('files/create', at({ path: '/srv/d/half' }));
    await ask('files/close', left);
    await ask('files/close', left);
  });

  it('download and upload folders, and follow no link out of the sandbox', async () => {
    const here = join(home.root, 'up');
    await mkdir(join(here, 'deep'), { recursive: true });
    await writeFile(join(here, 'deep/a ü'), 'a');
    await ask('files/upload', at({ from: [here], to: '/srv/in' }));
    const exec = (script: string) => ask('sandbox/exec', at({ argv: ['sh', '-c', script], stream: randomBytes(4).toString('hex') }));
    assert.equal((await exec('[ "$(cat "/srv/in/up/deep/a ü")" = a ]')).code, 0);
    await exec('mkdir "/srv/o*t"; cd "/srv/o*t"; echo kept > kept; ln -s kept inside; ln -s /etc/passwd passwd; mkfifo pipe; ln -s /etc etc');
    const to = join(home.root, 'down');
    const report = await ask('files/download', at({ paths: ['/srv/o*t', '/srv/d/f'], to }));
    assert.deepEqual((await readdir(to)).sort(), ['f', 'o*t']);
    assert.deepEqual((await readdir(join(to, 'o*t'))).sort(), ['inside', 'kept']);
    assert.equal(await readlink(join(to, 'o*t/inside')), 'kept');
    assert.equal(report.skipped.length >= 2, true, report.skipped.join());
    await assert.rejects(ask('files/download', at({ paths: ['/srv/o*t'], to })), /there already/);
    await exec('rm -r "/srv/o*t"; ln -s ../../../../../../../../etc "/srv/o*t"');
    const swapped = join(home.root, 'swapped');
    const after = await ask('files/download', at({ paths: ['/srv/o*t'], to: swapped }));
    assert.deepEqual([await readdir(swapped), after.skipped.length], [[], 1]);
    await assert.rejects(ask('files/download', at({ paths: ['/srv/none'], to: swapped })), (error: Error & { code?: string }) => error.code === 'NoSuchFile');
  });

  it('lead a port of this machine to one of theirs, until they end', async () => {
    void ask('sandbox/exec', at({ argv: ['python3', '-m', 'http.server', '8123', '--bind', '127.0.0.1', '--directory', '/srv/d'], stream: 'http' })).catch(() => undefined);
    collect(window, () => 'http');
    await until('the port', async () => (await ask('sandbox/ports', at({}))).ports.some(({ port }) => port === 8123) || undefined);
    const { localPort } = await ask('sandbox/forward', at({ port: 8123 }));
    assert.equal(await (await fetch(`http://127.0.0.1:${localPort}/f`)).text(), 'second\n');
    assert.deepEqual((await ask('sandbox/ports', at({}))).forwards.map(({ port }) => port), [8123]);
    await assert.rejects(ask('sandbox/forward', at({ port: 70_000 })), /no port/);
    await ask('sandbox/unforward', at({ port: 8123 }));
    await assert.rejects(fetch(`http://127.0.0.1:${localPort}/f`));
  });

  it('become snapshots and forks, and snapshots go out and in', async () => {
    const snapshot = await ask('sandbox/snapshot', at({ kind: 'filesystem', name: 'as it is' } as const));
    assert.equal(snapshot.name, 'as it is');
    await assert.rejects(ask('sandbox/snapshot', at({ kind: 'memory' } as const)), (error: Error & { code?: string }) => error.code === 'Unsupported');
    const fork = await ask('sandbox/fork', at({}));
    assert.equal(fork.origin, 'forked');
    assert.equal((await ask('files/stat', { id: fork.id, path: '/srv/d/f' })).size, 7);
    const file = join(home.root, 's.rlsnapshot');
    const { bytes } = await ask('snapshot/export', { id: snapshot.id, file });
    assert.equal((await stat(file)).size, bytes);
    await ask('snapshot/delete', { id: snapshot.id });
    const imported = await ask('snapshot/import', { file });
    assert.deepEqual([imported.origin, imported.name], ['import', 'as it is']);
    await ask('snapshot/pin', { id: imported.id, pinned: true });
    const list = await ask('snapshot/list', {});
    assert.ok(list.totalBytes > 0 && list.snapshots.some(({ id, pinned }) => id === imported.id && pinned));
    assert.deepEqual((await ask('snapshot/lineage', { id: imported.id })).map(({ id }) => id), [imported.id]);
    assert.equal(createHash('sha256').update(await readFile(file)).digest('hex').length, 64);
  });

  it('end one by one and all at once, and what is asked of them then has one clear answer', async () => {
    await ask('sandbox/terminate', at({ provider: sandbox.provider }));
    await assert.rejects(ask('files/list', at({ path: '/' })), (error: Error & { code?: string }) => error.code === 'NoSuchSandbox');
    const { ended, failed } = await ask('sandbox/terminateAll', {});
    assert.deepEqual([ended, failed], [1, []]);
    assert.deepEqual(await ask('sandbox/list', {}), []);
    assert.deepEqual(await ask('sandbox/terminateOrphans', {}), { ended: 0, failed: [] });
    await until('the runner to keep none', async () => ((await window.client.request('runner/status', {})).kept === 0 || undefined));
  });
});
