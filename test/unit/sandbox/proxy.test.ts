/** The proxy behind a relay of each language, with real servers; only where names lead is made up. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { connect, createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { AllowList } from '../../../src/sandbox/network/allowList.js';
import { Channels, MOST_CHANNELS, WINDOW } from '../../../src/sandbox/network/channels.js';
import { Proxy, type NetworkRequest } from '../../../src/sandbox/network/proxy.js';
import { PERL_RELAY, PYTHON_RELAY } from '../../../src/sandbox/network/relayPrograms.js';

const RELAYS = { perl: ['perl', '-e', PERL_RELAY, '--'], python: ['python3', '-c', PYTHON_RELAY] } as const;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = createTcp().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

for (const [language, [file, ...args]] of Object.entries(RELAYS)) {
  describe(`the proxy behind a relay in ${language}`, function () {
    this.timeout(30_000);
    let http: HttpServer;
    let echo: Server;
    let hang: Server;
    let most = 0;
    const held = new Set<Socket>();
    let relay: ChildProcess;
    let proxy: Proxy;
    let port: number;
    const heard: NetworkRequest[] = [];
    const sockets = new Set<Socket>();

    before(async () => {
      http = createServer((asked, answer) => {
        void buffer(asked).then((body) => {
          answer.setHeader('set-cookie', ['a=1', 'b=2']);
          answer.end(JSON.stringify({ method: asked.method, url: asked.url, host: asked.headers.host, secret: asked.headers['proxy-authorization'], hop: asked.headers['x-hop'], bytes: body.length }));
        });
      }).listen(0, '127.0.0.1');
      echo = createTcp({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket.on('error', () => undefined));
        socket.pipe(socket);
      }).listen(0, '127.0.0.1');
      hang = createTcp((socket) => {
        held.add(socket.on('error', () => undefined));
        most = Math.max(most, held.size);
        socket.once('close', () => held.delete(socket));
      }).listen(0, '127.0.0.1');
      await Promise.all([once(http, 'listening'), once(echo, 'listening'), once(hang, 'listening')]);
      const lookup = (name: string): Promise<string[]> => (name === 'nowhere.test' ? Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) : Promise.resolve(['127.0.0.1']));
      const list = new AllowList([`web.test:${portOf(http)}`, `127.0.0.1:${portOf(http)}`, `echo.test:${portOf(echo)}`, `127.0.0.1:${portOf(echo)}`, `hang.test:${portOf(hang)}`, `127.0.0.1:${portOf(hang)}`, 'rebound.test', 'nowhere.test']);
      proxy = new Proxy(list, { lookup, onRequest: (each) => heard.push(each) });
      port = await freePort();
      relay = spawn(file, [...args, String(port), String(MOST_CHANNELS), String(WINDOW)], { stdio: ['pipe', 'pipe', 'pipe'] });
      new Channels(relay.stdout!, relay.stdin!, (connection) => proxy.serve(connection));
      const [said] = (await once(relay.stderr!, 'data')) as [Buffer];
      assert.equal(said.toString(), '+');
    });
    after(async () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
      http.close();
      echo.close();
      hang.close();
      const gone = once(relay, 'exit');
      relay.stdin!.end();
      assert.deepEqual(await gone, [0, null], 'a relay ends with its input');
    });
    beforeEach(() => void heard.splice(0));

    const ask = async (url: string, options: { method?: string; body?: Buffer; headers?: Record<string, string>; agent?: Agent } = {}): Promise<{ status: number; said: string; response: IncomingMessage }> => {
      const asked = request({ host: '127.0.0.1', port, path: url, method: options.method ?? 'GET', headers: { host: 'other.test', ...options.headers }, agent: options.agent });
      asked.end(options.body);
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return { status: response.statusCode!, said: await text(response), response };
    };
    const tunnel = async (goal: string): Promise<{ status: string; socket: Socket; rest: Buffer }> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`CONNECT ${goal} HTTP/1.1\r\nHost: ${goal}\r\n\r\n`);
      let got = Buffer.alloc(0);
      while (!got.includes('\r\n\r\n')) got = Buffer.concat([got, ((await once(socket, 'data')) as [Buffer])[0]]);
      const end = got.indexOf('\r\n\r\n');
      socket.pause();
      return { status: got.toString('latin1', 0, got.indexOf('\r\n')), socket, rest: got.subarray(end + 4) };
    };

    it('takes no more connections out than it says, however many requests one of a program sends at once, and all end with that one', async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET http://hang.test:${portOf(hang)}/ HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(MOST_CHANNELS + 20));
      while (held.size < MOST_CHANNELS) await once(hang, 'connection');
      assert.match((await tunnel(`echo.test:${portOf(echo)}`)).status, / 503 /);
      socket.destroy();
      while (held.size > 0) await once([...held][0]!.resume(), 'close');
      assert.equal(most, MOST_CHANNELS);
    });

    it('passes a request on by its address alone, and its answer back', async () => {
      const { status, said, response } = await ask(`http://web.test:${portOf(http)}/a?b=c`, { method: 'POST', body: Buffer.alloc(300_000), headers: { 'proxy-authorization': 'x', connection: 'x-hop', 'x-hop': '1' } });
      assert.equal(status, 200);
      assert.deepEqual(JSON.parse(said), { method: 'POST', url: '/a?b=c', host: `web.test:${portOf(http)}`, bytes: 300_000 });
      assert.deepEqual(response.headers['set-cookie'], ['a=1', 'b=2']);
      assert.deepEqual(heard, [{ host: 'web.test', port: portOf(http) }]);
    });

    it('passes several requests of one connection on', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let index = 0; index < 3; index++) assert.equal((await ask(`http://web.test:${portOf(http)}/${index}`, { agent })).status, 200);
      assert.equal((await ask('http://evil.test/', { agent })).status, 403, 'each is judged by itself');
      agent.destroy();
    });

    it('carries megabytes both ways at once, through many connections, and a half-closed one', async () => {
      // What does not begin as TLS does.
      const bytes = Buffer.concat([Buffer.of(0), randomBytes(3 << 20)]);
      const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          const { status, socket, rest } = await tunnel(`echo.test:${portOf(echo)}`);
          assert.match(status, /^HTTP\/1\.1 200 /);
          socket.end(bytes);
          assert.equal(digest(Buffer.concat([rest, await buffer(socket)])), digest(bytes));
        }),
      );
    });

    it('lets no connection that is not read hold up another', async () => {
      const stalled = await tunnel(`echo.test:${portOf(echo)}`);
      stalled.socket.write(Buffer.concat([Buffer.of(0), randomBytes(4 << 20)]));
      const { socket } = await tunnel(`echo.test:${portOf(echo)}`);
      socket.end('hello');
      assert.equal(await text(socket), 'hello');
      stalled.socket.destroy();
    });

    it('refuses with 403 and a sentence what is not in the list', async () => {
      const { status, said } = await ask('http://evil.test/?secret');
      assert.equal(status, 403);
      assert.match(said, /^The network of this sandbox does not lead to evil\.test:80: it is not in the list of allowed hosts\. Allowed: web\.test:\d+, /);
      const refused = await tunnel('evil.test:443');
      assert.equal(refused.status, 'HTTP/1.1 403 Not in the list of hosts that this sandbox may reach');
      assert.match(refused.rest.toString() + (await text(refused.socket)), /does not lead to evil\.test:443/);
      for (const goal of ['93.184.216.34:443', '[::1]:443', `127.0.0.1:${port}`, `web.test:${portOf(echo)}`]) assert.match((await tunnel(goal)).status, / 403 /, goal);
      assert.match((await ask('http://rebound.test/')).said, /it leads to 127\.0\.0\.1, which is no public address/);
      assert.equal(heard.filter((each) => each.refused !== undefined).length, 7);
    });

    it('answers what it cannot do', async () => {
      assert.equal((await ask('http://nowhere.test/')).status, 502);
      assert.match((await ask('http://nowhere.test/')).said, /cannot be looked up: ENOTFOUND/);
      for (const path of ['/', 'https://web.test/', 'ftp://web.test/']) assert.equal((await ask(path)).status, 400, path);
      for (const goal of ['web.test', 'web.test:0', 'web.test:99999', 'a@web.test:443']) assert.match((await tunnel(goal)).status, / 400 /, goal);
      const noise = connect(port, '127.0.0.1');
      noise.end('\x16\x03\x01 no http\r\n\r\n');
      assert.match(await text(noise), /^HTTP\/1\.1 400 /);
      const long = connect(port, '127.0.0.1').on('error', () => undefined);
      long.write(`GET http://web.test/ HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`);
      assert.match(await text(long), /^HTTP\/1\.1 4\d\d /);
    });
  });
}
