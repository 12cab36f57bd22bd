/** A sandbox with a list of allowed hosts: what it reaches, and that nothing else can be reached whatever it does. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Unsupported } from '../../../src/sandbox/errors.js';
import type { NetworkRequest } from '../../../src/sandbox/network/proxy.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';
import { output, run, until, type Bench } from './bench.js';
import { skip } from '../../support/skip.js';

/** An address of this machine that is also the sandbox's own, so what answers there tells which of the two was reached; no program takes it for one that needs no proxy. */
const HERE = '127.0.0.2';

/** Asks as programs do that know nothing of all this. */
const GET = `import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode(), end="")`;
/** Sends CONNECT for each argument, and prints the first line of each answer. */
const CONNECT = `import os, socket, sys, urllib.parse
proxy = urllib.parse.urlparse(os.environ["HTTPS_PROXY"])
for goal in sys.argv[1:]:
    s = socket.create_connection((proxy.hostname, proxy.port), 20)
    s.sendall(f"CONNECT {goal} HTTP/1.1\\r\\nHost: {goal}\\r\\n\\r\\n".encode())
    print(s.makefile().readline().strip(), flush=True)`;
/** Goes straight to each argument, by TCP and by UDP, and prints what it reached. */
const DIRECT = `import socket, sys
for goal in sys.argv[1:]:
    host, port = goal.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 5)
        print("reached", goal)
    except OSError:
        pass
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.sendto(b"x", (host, int(port)))
        s.settimeout(1)
        s.recv(1)
        print("heard", goal)
    except OSError:
        pass`;

export function network(bench: Bench): void {
  describe('network with a list of hosts', () => {
    let http: Server;
    let tcp: Server;
    let web: number;
    let open: number;
    const sockets = new Set<Socket>();
    const requests: NetworkRequest[] = [];

    before(async function () {
      if (!bench.provider.capabilities.network.includes('allow')) skip(this, 'the provider has no lists of allowed hosts');
      http = createHttp((_, answer) => answer.end('the machine')).listen(0, HERE);
      tcp = createServer((socket) => {
        sockets.add(socket.on('error', () => undefined));
        socket.once('close', () => sockets.delete(socket));
      }).listen(0, '127.0.0.1');
      await Promise.all([once(http, 'listening'), once(tcp, 'listening')]);
      [web, open] = [http, tcp].map((server) => (server.address() as AddressInfo).port) as [number, number];
    });
    after(() => {
      http?.close();
      tcp?.close();
    });
    beforeEach(() => void requests.splice(0));

    const allowed = (...allow: string[]) => ({ network: { allow }, onNetwork: (request: NetworkRequest) => void requests.push(request) });
    const get = (sandbox: Sandbox, url: string): Promise<string> => output(sandbox, ['python3', '-c', GET, url]);
    const connect = async (sandbox: Sandbox, ...goals: string[]): Promise<string[]> => (await output(sandbox, ['python3', '-c', CONNECT, ...goals])).trim().split('\n');

    it('reaches those, by address and by name, in setup and in an episode', async () => {
      const allow = allowed(`${HERE}:${web}`, `127.0.0.1:${open}`, `localhost:${open}`);
      for (const sandbox of [await bench.create(allow), await bench.restore(allow)]) {
        assert.equal(await get(sandbox, `http://${HERE}:${web}/`), 'the machine');
        assert.deepEqual(await connect(sandbox, `localhost:${open}`), ['HTTP/1.1 200 Connection established']);
        assert.deepEqual(requests.splice(0), [{ host: HERE, port: web }, { host: 'localhost', port: open }]);
      }
    });

    it('reaches nothing else, and tells of each request that was refused', async () => {
      const sandbox = await bench.restore(allowed(`${HERE}:${web}`, `localhost:${open}`, 'site.org'));
      const goals = ['example.com:443', 'site.org:22', `${HERE}:${open}`, `127.0.0.1:${open}`, `localhost:${open}`, '[::1]:443', '169.254.169.254:80'];
      const answers = await connect(sandbox, ...goals);
      for (const [index, answer] of answers.entries()) assert.match(answer, /^HTTP\/1\.1 403 /, goals[index]);
      assert.deepEqual(requests.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`), goals);
      assert.match(requests[4]!.refused!, /^leads to (127\.0\.0\.1|::1), which is no public address/, 'an allowed name that leads to the machine itself');
      const refused = await run(sandbox, ['python3', '-c', GET, 'http://example.com/']);
      assert.match(refused.stderr, /403: Not in the list of hosts/);
      assert.equal(await output(sandbox, ['python3', '-c', DIRECT, `${HERE}:${web}`, `127.0.0.1:${open}`, '1.1.1.1:53', '169.254.169.254:80', 'example.com:80']), '');
      assert.notEqual((await run(sandbox, ['python3', '-c', 'import socket; socket.getaddrinfo("example.com", 80)'])).code, 0, 'a name was looked up without the proxy');
      assert.equal(sockets.size, 0);
    });

    it('goes on when its programs have killed all that they can, and when all of them are killed', async () => {
      const sandbox = await bench.restore(allowed(`${HERE}:${web}`));
      await run(sandbox, ['python3', '-c', 'import os; os.kill(-1, 9)']);
      assert.equal(await get(sandbox, `http://${HERE}:${web}/`), 'the machine');
      await sandbox.killAll();
      assert.equal(await get(sandbox, `http://${HERE}:${web}/`), 'the machine');
      assert.deepEqual(await sandbox.ports(), [], 'the proxy is no port of the sandbox');
    });

    it('ends with the sandbox, connections included', async () => {
      const sandbox = await bench.restore(allowed(`127.0.0.1:${open}`));
      const held = sandbox.exec(['python3', '-c', `${CONNECT}\nimport time; time.sleep(300)`, `127.0.0.1:${open}`]);
      held.exit.catch(() => undefined);
      held.stderr.resume();
      const [said] = (await once(held.stdout, 'data')) as [Buffer];
      held.stdout.resume();
      assert.match(said.toString(), / 200 /);
      assert.equal(sockets.size, 1);
      await sandbox.terminate();
      await until(() => Promise.resolve(sockets.size === 0), 'the end of the connection');
      await bench.subject.assertNothingLeft?.(sandbox.id);
    });

    it('refuses an entry that is none before anything is made', async () => {
      await assert.rejects(bench.restore({ network: { allow: ['http://site.org/'] } }), Unsupported);
    });
  });
}
