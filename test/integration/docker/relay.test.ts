/** Ways into a container that has no network and little else. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { NothingListens, Unsupported } from '../../../src/sandbox/errors.js';
import { Bench, output, run } from '../conformance/bench.js';
import { dockerSubject } from './subject.js';

const ECHO = `import socket
s = socket.create_server(("127.0.0.1", 7171))
print("up", flush=True)
while True:
    c, _ = s.accept()
    d = b""
    while not d.endswith(b"\\n"): d += c.recv(65536)
    c.sendall(d.upper())
    c.close()`;

describe('connections into a container', function () {
  this.timeout(120_000);
  const bench = new Bench();
  before(async function () {
    this.timeout(600_000);
    await bench.start(await dockerSubject());
  });
  afterEach(() => bench.terminateAll());
  after(() => bench.stop());

  it('are carried by whatever the image has: perl, python3, bash; and where it has nothing, that is said', async () => {
    const sandbox = await bench.restore();
    const server = sandbox.exec(['python3', '-c', ECHO]);
    server.exit.catch(() => undefined);
    server.stderr.resume();
    await once(server.stdout, 'data');
    server.stdout.resume();
    const without = { perl: 'mv /usr/bin/perl /usr/bin/perl5.* /tmp/', python3: 'mv /usr/bin/python3* /tmp/' };
    const big = `${'x'.repeat(300_000)}\n`;
    const talk = async (): Promise<void> => {
      const connection = await sandbox.connect(7171);
      connection.write(big);
      assert.equal(await text(connection), big.toUpperCase());
    };
    await talk();
    await output(sandbox, without.perl);
    await talk();
    await output(sandbox, without.python3);
    await talk();
    await assert.rejects(sandbox.connect(7172), NothingListens);
    await output(sandbox, 'mv /bin/bash /usr/bin/bash /tmp/ 2>/dev/null; ! command -v bash');
    await assert.rejects(sandbox.connect(7171), Unsupported);
  });

  it('lead out by perl or python3; a sandbox that breaks them has no network, and goes on', async () => {
    const network = { allow: ['127.0.0.1:9'] };
    const ask = `exec 3<>/dev/tcp/127.0.0.1/15380 || exit; printf 'CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n' >&3; read -r l <&3; echo "\${l%%Not*}"`;
    const sandbox = await bench.restore({ network });
    for (const without of ['true', 'mv /usr/bin/perl /usr/bin/perl5.* /tmp/']) {
      await output(sandbox, without);
      await sandbox.killAll();
      assert.equal(await output(sandbox, ['bash', '-c', ask]), 'HTTP/1.1 403 \n', without);
    }
    await output(sandbox, 'mv /usr/bin/python3* /tmp/');
    await sandbox.killAll();
    assert.match((await run(sandbox, ['bash', '-c', ask])).stderr, /refused/);
    const bare = await sandbox.snapshot('filesystem');
    await assert.rejects(bench.restore({ network }, bare), (error: Error) => error instanceof Unsupported && /perl or python3/.test(error.message));
    await bench.provider.removeSnapshot(bare);
  });
});
