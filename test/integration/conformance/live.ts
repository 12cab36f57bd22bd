import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { request } from 'node:http';
import { statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { PassThrough, Readable, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { FileExists, NoSuchFile, NothingListens, SandboxLost } from '../../../src/sandbox/errors.js';
import type { ExecOptions, ExecProcess, Sandbox } from '../../../src/sandbox/provider.js';
import { skip } from '../../support/skip.js';
import { ignoreOutput, output, run, until, type Bench } from './bench.js';

const GIBIBYTE = 2 ** 30;
const SIZE = { columns: 93, rows: 27 };

/** A command on a terminal, with what it has shown so far. */
class Terminal {
  readonly keys = new PassThrough();
  readonly child: ExecProcess;
  shown = '';

  constructor(sandbox: Sandbox, argv: readonly string[], options: Partial<ExecOptions> = {}) {
    this.child = sandbox.exec(argv, { tty: SIZE, stdin: this.keys, timeoutMs: 60_000, ...options });
    this.child.stdout.setEncoding('utf8').on('data', (piece: string) => (this.shown += piece));
    this.child.stderr.resume();
  }

  type(keys: string): void {
    this.keys.write(keys);
  }

  shows(what: RegExp): Promise<void> {
    return until(() => Promise.resolve(what.test(this.shown)), `${what} on the terminal, which shows ${JSON.stringify(this.shown)}`, 15_000);
  }

  async code(): Promise<number> {
    const { code } = await this.child.exit;
    if (!this.child.stdout.readableEnded) await once(this.child.stdout, 'end');
    return code;
  }
}

/** A server in the sandbox that answers each line with the same in capitals, by whatever there is. */
const ECHO = `import socket
s = socket.create_server(("127.0.0.1", 7070))
print("up", flush=True)
while True:
    c, _ = s.accept()
    while True:
        d = c.recv(65536)
        if not d: break
        c.sendall(d.upper())
    c.close()`;

/** What a person does with a sandbox that is alive: terminals, files, ports, figures. */
export function live(bench: Bench): void {
  describe('terminals', () => {
    it('are real: name, size, type, controlling terminal, exit code', async () => {
      const terminal = new Terminal(await bench.restore({ env: { FROM_SPEC: 'a b\n$c' } }), ['sh', '-c', 'tty; stty size; echo "$TERM|$FROM_SPEC|"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo fine > /dev/tty; exit 7']);
      assert.equal(await terminal.code(), 7);
      assert.equal(terminal.shown, '/dev/pts/0\r\n27 93\r\nxterm-256color|a b\r\n$c|\r\nfine\r\n');
    });

    it('pass Ctrl-C, Ctrl-D and Ctrl-Z to a shell that goes on', async () => {
      const terminal = new Terminal(await bench.restore(), ['sh', '-i'], { env: { PS1: 'ready> ' } });
      await terminal.shows(/ready> $/);
      terminal.type('sleep 300\r');
      await terminal.shows(/sleep 300\r\n/);
      terminal.type('\x03');
      await terminal.shows(/\^C[^]*ready> $/);
      terminal.type('cat; echo "code $?"\r');
      terminal.type('typed\r\x04');
      await terminal.shows(/typed\r\ntyped\r\n[^]*code 0/);
      terminal.type('exit 3\r');
      assert.equal(await terminal.code(), 3);
    });

    it('change their size, and the program is told', async () => {
      const terminal = new Terminal(await bench.restore(), ['sh', '-c', 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.05; done']);
      await terminal.shows(/ready/);
      terminal.child.resize({ columns: 120, rows: 50 });
      assert.equal(await terminal.code(), 0);
      assert.match(terminal.shown, /50 120/);
      terminal.child.resize(SIZE);
    });

    it('give every byte of much output, and those of a program that takes the whole screen', async () => {
      const terminal = new Terminal(await bench.restore(), ['sh', '-c', 'stty raw; printf "\\033[?1049h\\033[2J"; seq 1 200000; printf "\\033[?1049l"']);
      assert.equal(await terminal.code(), 0);
      const [, lines] = /^\x1b\[\?1049h\x1b\[2J([^]*)\x1b\[\?1049l$/.exec(terminal.shown) ?? [];
      assert.equal(lines, Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(''));
    });

    it('take Ctrl-C while a reader that is slow has much output before it', async () => {
      const sandbox = await bench.restore();
      const keys = new PassThrough();
      const child = sandbox.exec(['sh', '-c', 'trap "exit 9" INT; while :; do echo line; done'], { tty: SIZE, stdin: keys, timeoutMs: 60_000 });
      child.stderr.resume();
      await once(child.stdout, 'readable');
      keys.write('\x03');
      child.stdout.resume();
      assert.equal((await child.exit).code, 9);
    });

    it('are many at once, and end with the sandbox, an abort or their deadline, with all that runs on them', async () => {
      const sandbox = await bench.restore();
      const stop = new AbortController();
      const [first, second, third] = [new Terminal(sandbox, ['sh', '-c', 'echo up; sleep 301']), new Terminal(sandbox, ['sh', '-c', 'echo up; sleep 302'], { signal: stop.signal }), new Terminal(sandbox, ['sh', '-c', 'sleep 303'], { timeoutMs: 400 })];
      const ends = [assert.rejects(first.child.exit, SandboxLost), assert.rejects(second.child.exit, /closed by hand/), assert.rejects(third.child.exit, { name: 'ExecTimeout' })];
      await Promise.all([first.shows(/up/), second.shows(/up/)]);
      stop.abort(new Error('closed by hand'));
      await Promise.all(ends.slice(1));
      await until(async () => !/sleep 30[23]/.test(await output(sandbox, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')), 'the commands to be gone');
      await sandbox.terminate();
      await ends[0];
      await bench.subject.assertNothingLeft?.(sandbox.id);
    });

    it('are not given what is typed before their command is there', async () => {
      const keys = new PassThrough();
      keys.write('early\r');
      const child = (await bench.restore()).exec(['sh', '-c', 'read -r line; echo "got $line"'], { tty: SIZE, stdin: keys, timeoutMs: 30_000 });
      child.stderr.resume();
      assert.match(await text(child.stdout), /got early/);
    });
  });

  describe('figures', () => {
    it('tell the use of processor, memory and processes', async () => {
      const sandbox = await bench.restore({ resources: { cpu: 2, memory: 256 << 20 } });
      const before = await sandbox.stats();
      const busy = sandbox.exec(['python3', '-c', 'x = bytearray(64 << 20)\nprint("up", flush=True)\nwhile True: pass']);
      busy.exit.catch(() => undefined);
      busy.stderr.resume();
      await once(busy.stdout, 'data');
      await until(async () => (await sandbox.stats()).cpuMs - before.cpuMs > 300, 'the processor time to grow');
      const { memory, pids } = await sandbox.stats();
      assert.ok(memory > 64 << 20 && memory < 256 << 20, `${memory} bytes`);
      assert.ok(pids >= 1 && pids < 20, `${pids} processes`);
      await sandbox.terminate();
      await assert.rejects(sandbox.stats(), SandboxLost);
    });

    it('the end of a sandbox is told, whoever ended it', async () => {
      const [own, other] = [await bench.restore(), await bench.restore()];
      let ended = false;
      void other.ended.then(() => (ended = true));
      await own.terminate();
      await own.ended;
      assert.equal(ended, false);
      await bench.provider.terminate(other.id);
      await other.ended;
    });
  });

  describe('files of a live sandbox', () => {
    const AWKWARD = ['plain', 'with space', 'ünïcödé 🎲', 'new\nline', 'trailing\n', '-dash', "quote'd", '..odd', '.hidden', 'star*', 'back\\slash', '$(id)'];

    it('are listed with type, size, mode and time, whatever their name', async () => {
      const sandbox = await bench.restore();
      await sandbox.files.mkdir('/srv/a folder/deep');
      await sandbox.files.mkdir('/srv/a folder/deep');
      for (const name of AWKWARD) await sandbox.files.write(`/srv/a folder/${name}`, 'four', { mode: 0o640 });
      await run(sandbox, 'cd "/srv/a folder"; ln -s plain link; ln -s deep folderlink; ln -s nowhere dangling; mkfifo pipe; chmod 700 deep');
      const listed = new Map((await sandbox.files.list('/srv/a folder')).map((entry) => [entry.name, entry]));
      assert.deepEqual([...listed.keys()].sort(), [...AWKWARD, 'deep', 'link', 'folderlink', 'dangling', 'pipe'].sort());
      for (const name of AWKWARD) {
        const { type, size, mode, link, modified } = listed.get(name)!;
        assert.deepEqual({ type, size, mode, link }, { type: 'file', size: 4, mode: 0o640, link: false }, name);
        assert.ok(Math.abs(modified - Date.now()) < 120_000, `${name}: ${modified}`);
        assert.deepEqual(await sandbox.files.stat(`/srv/a folder/${name}`), { type, size, mode, link, modified: (await sandbox.files.stat(`/srv/a folder/${name}`)).modified });
      }
      const kinds = ['deep', 'link', 'folderlink', 'dangling', 'pipe'].map((name) => `${listed.get(name)!.type} ${listed.get(name)!.link}`);
      assert.deepEqual(kinds, ['directory false', 'file true', 'directory true', 'other true', 'other false']);
      assert.equal(listed.get('link')!.size, 4, 'of what it leads to');
      assert.equal(listed.get('deep')!.mode, 0o700);
      assert.equal((await sandbox.files.stat('/srv/a folder/folderlink/')).type, 'directory');
      assert.deepEqual((await sandbox.files.list('/srv/a folder/folderlink')), []);
      assert.equal((await sandbox.files.stat('/')).type, 'directory');
      assert.ok((await sandbox.files.list('/')).some(({ name }) => name === 'srv'));
      for (const path of ['/srv/none', '/srv/a folder/plain', '/srv/a folder/dangling']) await assert.rejects(sandbox.files.list(path), NoSuchFile, path);
      await assert.rejects(sandbox.files.stat('/srv/none'), NoSuchFile);
      await assert.rejects(sandbox.files.mkdir('/srv/a folder/plain'));
    });

    it('a folder of thousands is listed whole', async () => {
      const sandbox = await bench.restore();
      await output(sandbox, 'mkdir /srv/many; cd /srv/many; seq 1 3000 | xargs touch');
      assert.equal((await sandbox.files.list('/srv/many')).length, 3000);
    });

    it('are moved, and nothing is replaced unless that was asked for', async () => {
      const { files, ...sandbox } = await bench.restore().then((each) => ({ files: each.files, exec: each.exec.bind(each) }));
      await files.write('/srv/one', '1');
      await files.write('/srv/-two', '2');
      await files.mkdir('/srv/full/sub');
      await files.mkdir('/srv/empty');
      await files.rename('/srv/one', '/srv/new\nname');
      assert.equal(await text(await files.read('/srv/new\nname')), '1');
      await assert.rejects(files.rename('/srv/none', '/srv/x'), NoSuchFile);
      for (const to of ['/srv/-two', '/srv/full', '/srv/empty']) await assert.rejects(files.rename('/srv/new\nname', to), FileExists, to);
      await assert.rejects(files.rename('/srv/-two', '/srv/full', { overwrite: true }), FileExists, 'a folder that holds something');
      await files.rename('/srv/new\nname', '/srv/-two', { overwrite: true });
      await files.rename('/srv/full', '/srv/empty', { overwrite: true });
      const left = (await files.list('/srv')).map(({ name }) => name).sort();
      assert.deepEqual(left, ['-two', 'empty', 'task']);
      assert.deepEqual((await files.list('/srv/empty')).map(({ name }) => name), ['sub']);
      const child = sandbox.exec(['sh', '-c', 'ln -s /srv/task /srv/link']);
      ignoreOutput(child);
      await child.exit;
      await files.rename('/srv/-two', '/srv/link', { overwrite: true });
      assert.equal((await files.stat('/srv/link')).link, false, 'a link is replaced, not what it leads to');
    });

    it('are read in parts', async () => {
      const { files } = await bench.restore();
      await files.write('/srv/digits', '0123456789');
      const part = async (offset?: number, length?: number): Promise<string> => text(await files.read('/srv/digits', { offset, length }));
      assert.deepEqual([await part(3, 4), await part(8), await part(undefined, 2), await part(80, 5), await part(8, 50), await part(0, 0)], ['3456', '89', '01', '', '89', '']);
    });

    it('of a folder that became a link to /etc are those of the sandbox, or none', async () => {
      const sandbox = await bench.restore();
      const marker = `inside-${process.pid}`;
      await output(sandbox, `mkdir -p /srv/d/sub; echo ${marker} > /srv/d/passwd; echo ${marker} > /srv/d/sub/f; echo ${marker} > /etc/only-inside`);
      assert.equal((await sandbox.files.list('/srv/d')).length, 2);
      await output(sandbox, 'rm -r /srv/d; ln -s ../../../../../../../../etc /srv/d');
      assert.ok((await sandbox.files.list('/srv/d')).some(({ name }) => name === 'only-inside'), 'the link means inside what it means there');
      assert.equal(await text(await sandbox.files.read('/srv/d/only-inside')), `${marker}\n`);
      await sandbox.files.write('/srv/d/written', 'x');
      assert.equal(await output(sandbox, 'cat /etc/written'), 'x');
      assert.ok((await sandbox.changes()).every(({ path }) => !path.startsWith('/srv/d/')));
    });

    it('of 3 GB go in and out in bounded memory', async function () {
      if (bench.subject.small) skip(this, bench.subject.small);
      this.timeout(600_000);
      const bytes = 3 * GIBIBYTE;
      const disk = await statfs(tmpdir());
      if (disk.bavail * disk.bsize < 3 * bytes || freemem() < 2 * bytes) skip(this, 'needs 9 GB of disk and 6 GB of memory');
      const sandbox = await bench.restore({ resources: { disk: 4 * GIBIBYTE } });
      const chunk = Buffer.alloc(1 << 20);
      let peak = 0;
      const before = process.memoryUsage().rss;
      const watch = (): void => void (peak = Math.max(peak, process.memoryUsage().rss - before));
      const source = Readable.from((function* () { for (let part = 0; part < bytes / chunk.length; part++) { watch(); yield chunk; } })());
      await sandbox.files.write('/srv/big', source, { size: bytes, timeoutMs: 500_000 });
      assert.equal((await sandbox.files.stat('/srv/big')).size, bytes);
      let total = 0;
      for await (const part of await sandbox.files.read('/srv/big', { timeoutMs: 500_000 })) {
        total += (part as Buffer).length;
        watch();
      }
      assert.equal(total, bytes);
      assert.ok(peak < 200 << 20, `${Math.round(peak / (1 << 20))} MiB held`);
    });
  });

  describe('changes', () => {
    it('are told against the snapshot: added, modified, removed', async () => {
      const sandbox = await bench.restore({ workdir: '/srv/task' });
      assert.deepEqual(await sandbox.changes(), []);
      await output(sandbox, 'cd /srv; echo more >> task/state; rm task/link; mkdir -p "new dir/in"; echo x > "new dir/in/f\n1"; touch tmp; rm tmp; rm -r /usr/share/doc 2>/dev/null; chmod 700 /usr/bin/env; true');
      const changes = new Map((await sandbox.changes()).map(({ path, kind }) => [path, kind]));
      const expected = { '/srv/new dir': 'added', '/srv/new dir/in': 'added', '/srv/new dir/in/f\n1': 'added', '/srv/task/link': 'removed', '/srv/task/state': 'modified' };
      assert.deepEqual(Object.fromEntries([...changes].filter(([path]) => path.startsWith('/srv'))), expected);
      if ((await run(sandbox, '[ "$(stat -c %a /usr/bin/env)" = 700 ]')).code === 0) assert.equal(changes.get('/usr/bin/env'), 'modified');
      assert.ok([...changes.keys()].every((path) => !/^\/(proc|sys|dev)(\/|$)/.test(path)));
    });

    it('of a sandbox that was restored from another snapshot are those since then', async () => {
      const first = await bench.restore();
      await output(first, 'echo 1 > /srv/first; rm /srv/task/link');
      const snapshot = await first.snapshot('filesystem');
      await first.terminate();
      try {
        const sandbox = await bench.restore({}, snapshot);
        await output(sandbox, 'echo 2 > /srv/second; echo 3 >> /srv/first');
        assert.deepEqual((await sandbox.changes()).filter(({ path }) => path.startsWith('/srv')), [{ path: '/srv/first', kind: 'modified' }, { path: '/srv/second', kind: 'added' }]);
      } finally {
        await bench.terminateAll();
        await bench.provider.removeSnapshot(snapshot);
      }
    });
  });

  describe('ports', () => {
    const serve = async (sandbox: Sandbox, program = ECHO): Promise<void> => {
      const server = sandbox.exec(['python3', '-c', program]);
      server.exit.catch(() => undefined);
      server.stderr.resume();
      await once(server.stdout, 'data');
      server.stdout.resume();
    };
    const talk = async (connection: Duplex, what: string): Promise<string> => {
      connection.end(what);
      return text(connection);
    };

    for (const network of ['none', 'full'] as const) {
      it(`on which it listens are told, and led to, with network ${network}`, async () => {
        const sandbox = await bench.restore({ network });
        assert.deepEqual(await sandbox.ports(), []);
        await assert.rejects(sandbox.connect(7070), NothingListens);
        await serve(sandbox);
        assert.deepEqual(await sandbox.ports(), [{ port: 7070, address: '127.0.0.1' }]);
        const answers = await Promise.all(['one', 'two', 'x'.repeat(300_000)].map(async (word) => talk(await sandbox.connect(7070), word)));
        assert.deepEqual(answers, ['ONE', 'TWO', 'X'.repeat(300_000)]);
      });
    }

    it('speak HTTP over a connection', async () => {
      const sandbox = await bench.restore();
      await output(sandbox, 'mkdir /srv/www; echo hello > /srv/www/index.html');
      await serve(sandbox, 'import http.server, os\nos.chdir("/srv/www")\ns = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), http.server.SimpleHTTPRequestHandler)\nprint("up", flush=True)\ns.serve_forever()');
      const connection = await sandbox.connect(8080);
      const answer = request({ path: '/', createConnection: () => connection }).end();
      const [response] = (await once(answer, 'response')) as [Readable & { statusCode: number }];
      assert.equal(response.statusCode, 200);
      assert.equal(await text(response), 'hello\n');
    });

    it('connections end with the sandbox', async () => {
      const sandbox = await bench.restore();
      await serve(sandbox);
      const connection = await sandbox.connect(7070);
      const closed = new Promise((resolve) => connection.once('close', resolve));
      connection.resume();
      await sandbox.terminate();
      await closed;
      await bench.subject.assertNothingLeft?.(sandbox.id);
    });
  });
}
