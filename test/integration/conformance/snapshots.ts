import { strict as assert } from 'node:assert';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import type { ProviderSnapshot } from '../../../src/sandbox/provider.js';
import { Unsupported } from '../../../src/sandbox/errors.js';
import { skip } from '../../support/skip.js';
import { output, until, type Bench } from './bench.js';

const MEBIBYTE = 1 << 20;

/** Snapshots of sandboxes that live: taken while they run, measured, carried elsewhere. */
export function snapshots(bench: Bench): void {
  const made: ProviderSnapshot[] = [];
  const keep = (snapshot: ProviderSnapshot): ProviderSnapshot => (made.push(snapshot), snapshot);
  const removeAll = async (): Promise<void> => {
    await bench.terminateAll();
    for (const snapshot of made.splice(0).reverse()) await bench.provider.removeSnapshot(snapshot);
  };

  /** A provider whose snapshots cannot leave it says so, and takes none in either. */
  const cannotLeave = async (): Promise<boolean> => {
    if (!bench.subject.snapshotsStay) return false;
    await assert.rejects(bench.provider.exportSnapshot(bench.snapshot), Unsupported);
    await assert.rejects(bench.provider.importSnapshot(Readable.from([]), 'filesystem'), Unsupported);
    return true;
  };

  describe('snapshots of live sandboxes', () => {
    afterEach(removeAll);

    it('leave what runs running, on a terminal too', async () => {
      const sandbox = await bench.restore();
      const counting = sandbox.exec(['sh', '-c', 'n=0; while :; do n=$((n+1)); echo $n > /srv/count; sleep 0.02; done']);
      counting.exit.catch(() => undefined);
      counting.stdout.resume();
      counting.stderr.resume();
      const terminal = sandbox.exec(['sh', '-i'], { tty: { columns: 80, rows: 24 }, stdin: Readable.from((async function* () { yield 'sleep 0.2; echo st""ill\r'; await until(() => Promise.resolve(/still/.test(shown)), 'the shell to go on'); yield 'exit 4\r'; })()) });
      let shown = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
      terminal.stderr.resume();
      await until(async () => (await sandbox.files.list('/srv')).some(({ name }) => name === 'count'), 'the counter');
      const snapshot = keep(await sandbox.snapshot('filesystem'));
      assert.equal((await terminal.exit).code, 4, shown);
      assert.doesNotMatch(shown, /Stopped/);
      const count = async (): Promise<number> => Number(await output(sandbox, 'cat /srv/count'));
      const at = await count();
      await until(async () => (await count()) > at, 'the counter to go on');
      const copy = await bench.restore({}, snapshot);
      assert.ok(Number(await output(copy, 'cat /srv/count')) >= 1);
      // Those of the commands before may be on their way out.
      await until(async () => (await copy.stats()).pids < 5, 'the copy to have no processes but its own');
    });

    it('are measured with what they share counted once', async () => {
      const first = await bench.restore();
      await output(first, 'head -c 4194304 /dev/urandom > /srv/four');
      const parent = keep(await first.snapshot('filesystem'));
      const second = await bench.restore({}, parent);
      await output(second, 'head -c 2097152 /dev/urandom > /srv/two');
      const child = keep(await second.snapshot('filesystem'));
      const { total, own } = await bench.provider.sizes([parent, child]);
      const [four, two] = [own.get(parent.ref)!, own.get(child.ref)!];
      assert.ok(total >= 6 * MEBIBYTE && total < 8 * MEBIBYTE, `${total}`);
      assert.ok(four < MEBIBYTE, 'the child needs what its parent holds');
      assert.ok(two >= 2 * MEBIBYTE && two < 3 * MEBIBYTE, `${two}`);
      const alone = await bench.provider.sizes([child]);
      assert.ok(alone.own.get(child.ref)! >= 6 * MEBIBYTE);
      assert.equal((await bench.provider.sizes([])).total, 0);
    });

    it('a child survives its parent', async () => {
      const first = await bench.restore();
      await output(first, 'echo 1 > /srv/first');
      const parent = await first.snapshot('filesystem');
      const second = await bench.restore({}, parent);
      await output(second, 'echo 2 > /srv/second');
      const child = keep(await second.snapshot('filesystem'));
      await Promise.all([first.terminate(), second.terminate()]);
      await bench.provider.removeSnapshot(parent);
      assert.equal(await output(await bench.restore({}, child), 'cat /srv/first /srv/second'), '1\n2\n');
    });

    it('go out as one stream and come in again the same, removals, links, modes and odd names too', async function () {
      if (await cannotLeave()) skip(this, 'snapshots cannot leave this provider');
      const sandbox = await bench.restore();
      await output(sandbox, 'cd /srv; rm task/link; rm -r task; mkdir task; echo new > task/new; ln -s task l; ln task/new hard; printf x > "$(printf "new\\nline")"; echo ü > ünï; chmod 710 task; mkdir empty');
      const look = 'cd /srv; ls -A . task; readlink l; stat -c "%a %h" task/new; stat -c %a task; cat hard ünï';
      const before = await output(sandbox, look);
      const snapshot = keep(await sandbox.snapshot('filesystem'));
      const archive = await buffer(await bench.provider.exportSnapshot(snapshot));
      await bench.terminateAll();
      await bench.provider.removeSnapshot(made.pop()!);
      const again = keep(await bench.provider.importSnapshot(Readable.from(pieces(archive)), 'filesystem'));
      assert.equal(await bench.provider.hasSnapshot(again), true);
      assert.equal(await output(await bench.restore({}, again), look), before);
    });

    it('an archive that is cut, foreign or hostile is refused, and leaves nothing', async function () {
      this.timeout(180_000);
      if (await cannotLeave()) skip(this, 'snapshots cannot leave this provider');
      const sandbox = await bench.restore();
      await output(sandbox, 'head -c 300000 /dev/urandom > /srv/data');
      const snapshot = keep(await sandbox.snapshot('filesystem'));
      const archive = await buffer(await bench.provider.exportSnapshot(snapshot));
      const { total } = await bench.provider.sizes([snapshot]);
      const broken = new Readable({ read() { this.push(archive.subarray(0, 100_000)); this.destroy(new Error('the source broke')); } });
      await assert.rejects(bench.provider.importSnapshot(broken, 'filesystem'), /the source broke/);
      for (const data of [archive.subarray(0, archive.length / 2), Buffer.alloc(10_240), Buffer.from('no archive'.repeat(1000)), await hostile()]) {
        await assert.rejects(bench.provider.importSnapshot(Readable.from(pieces(data)), 'filesystem'), Error);
      }
      assert.equal((await bench.provider.sizes([snapshot])).total, total);
      assert.equal(await output(await bench.restore({}, snapshot), 'wc -c < /srv/data'), '300000\n');
    });
  });

  it('200 restores at once give 200 sandboxes, and none is left', async function () {
    this.timeout(300_000);
    const count = bench.subject.restoresAtOnce ?? 200;
    const before = (await bench.provider.list()).length;
    const sandboxes = await Promise.all(Array.from({ length: count }, () => bench.restore()));
    assert.equal((await bench.provider.list()).length, before + count);
    assert.deepEqual(await output(sandboxes[count - 1]!, 'cat /srv/task/state'), 'prepared\n');
    await bench.terminateAll();
    assert.equal((await bench.provider.list()).length, before);
  });
}

function* pieces(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += 65_536) yield data.subarray(at, at + 65_536);
}

/** An archive that leads outside, and through a link, in every way that a tar has. */
function hostile(): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: '../../../tmp/rl-outside' }, 'x');
  tar.entry({ name: '/tmp/rl-outside' }, 'x');
  tar.entry({ name: 'aaaaaaaaaaaa/l0/root', type: 'symlink', linkname: '/tmp' });
  tar.entry({ name: 'aaaaaaaaaaaa/l0/root/rl-outside' }, 'x');
  tar.entry({ name: 'aaaaaaaaaaaa/manifest.json' }, JSON.stringify({ layers: 1, marks: 'trusted', root: { digest: 'sha256:0', name: '../../..', trees: ['/root'], env: {} }, parts: [] }));
  tar.entry({ name: 'manifest.json' }, JSON.stringify([{ Config: '../../etc/passwd', RepoTags: ['debian:latest'], Layers: ['../../etc'] }]));
  tar.finalize();
  return buffer(Readable.from(tar, { objectMode: false }));
}
