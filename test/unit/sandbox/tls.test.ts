/** The proxy before real servers of TLS: which server a program asks for inside a connection to a host that it may reach. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createServer, type Server as TlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { AllowList } from '../../../src/sandbox/network/allowList.js';
import { readHello } from '../../../src/sandbox/network/clientHello.js';
import { Proxy, type NetworkRequest } from '../../../src/sandbox/network/proxy.js';

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe('the server name of TLS', function () {
  this.timeout(30_000);
  let folder: string;
  let front: TlsServer;
  let greeting: Server;
  let way: Server;
  let proxy: Proxy;
  const asked: unknown[] = [];
  const heard: NetworkRequest[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-tls-'));
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=front.test', '-days', '2']);
    // One server of many names, as a content network's is.
    front = createServer({ key: await readFile(key), cert: await readFile(cert) }, (socket) => {
      asked.push(socket.servername);
      socket.on('error', () => undefined).end('secret');
    });
    front.on('tlsClientError', () => undefined);
    greeting = createTcp((socket) => {
      socket.on('error', () => undefined).write('220 hello\r\n');
      socket.once('data', (data) => socket.end(data));
    });
    for (const server of [front, greeting]) await once(server.listen(0, '127.0.0.1'), 'listening');
    const list = new AllowList([...[front, greeting].flatMap((server) => [`front.test:${portOf(server)}`, `127.0.0.1:${portOf(server)}`]), 'other.test']);
    proxy = new Proxy(list, { lookup: () => Promise.resolve(['127.0.0.1']), onRequest: (each) => heard.push(each) });
    way = createTcp({ allowHalfOpen: true }, (socket) => proxy.serve(socket));
    await once(way.listen(0, '127.0.0.1'), 'listening');
  });
  after(async () => {
    proxy.close();
    for (const server of [front, greeting, way]) server.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => [asked, heard].forEach((list) => list.splice(0)));

  const tunnel = async (goal: string): Promise<Socket> => {
    const socket = connect(portOf(way), '127.0.0.1').on('error', () => undefined);
    socket.write(`CONNECT ${goal} HTTP/1.1\r\nHost: ${goal}\r\n\r\n`);
    let got = Buffer.alloc(0);
    while (!got.includes('\r\n\r\n')) got = Buffer.concat([got, ((await once(socket, 'data')) as [Buffer])[0]]);
    assert.match(got.toString(), /^HTTP\/1\.1 200 /);
    socket.pause();
    // A server may have spoken at once.
    socket.unshift(got.subarray(got.indexOf('\r\n\r\n') + 4));
    return socket;
  };
  /** What a program reads that asks for a server by TLS. */
  const get = async (goal: string, servername: string): Promise<string> => {
    const socket = connectTls({ socket: await tunnel(goal), servername, rejectUnauthorized: false });
    return text(socket);
  };
  /** The first message of a real client. */
  const helloOf = async (servername: string): Promise<Buffer> => {
    const server = createTcp().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connectTls({ port: portOf(server), host: '127.0.0.1', servername, rejectUnauthorized: false }).on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    client.destroy();
    socket.destroy();
    server.close();
    return bytes;
  };

  it('is the host that was allowed, and then the connection is as without a proxy', async () => {
    assert.equal(await get(`front.test:${portOf(front)}`, 'Front.Test'), 'secret');
    assert.equal(asked.length, 1);
    assert.deepEqual(heard, [{ host: 'front.test', port: portOf(front) }]);
    assert.equal(await get(`127.0.0.1:${portOf(front)}`, 'any.test'), 'secret', 'an address has no name to hold it against');
  });

  it('is refused if it is another one or none, told to the program as TLS does, and reported', async () => {
    const port = portOf(front);
    for (const name of ['hidden.test', 'other.test', '']) await assert.rejects(get(`front.test:${port}`, name), { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' }, name);
    assert.deepEqual(asked, [], 'nothing has reached the server');
    assert.deepEqual(heard.flatMap(({ host, refused }) => refused ?? `${host} allowed`), [
      ...['front.test allowed', 'was asked by TLS for the server name hidden.test, which has to be the same'],
      ...['front.test allowed', 'was asked by TLS for the server name other.test, which has to be the same'],
      ...['front.test allowed', 'was asked by TLS for no server name that can be read, which has to be the same'],
    ]);
  });

  it('is read however it is cut, into pieces and into records', async () => {
    const hello = await helloOf('front.test');
    for (let length = 0; length < hello.length; length++) assert.equal(readHello(hello.subarray(0, length)), 'incomplete', `${length} bytes`);
    assert.deepEqual(readHello(Buffer.concat([hello, Buffer.from('more')])), { serverName: 'front.test' });
    const record = (body: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1, body.length >> 8, body.length & 255]), body]);
    const message = hello.subarray(5);
    assert.deepEqual(readHello(Buffer.concat([record(message.subarray(0, 3)), record(message.subarray(3, 90)), record(message.subarray(90))])), { serverName: 'front.test' });
    const socket = await tunnel(`front.test:${portOf(greeting)}`);
    const said = text(socket);
    for (const byte of hello) socket.write(Buffer.from([byte]));
    assert.match(await said, /^220 hello\r\n\x16/, 'a server that speaks first is heard, and hears all at last');
  });

  it('is none in what only looks like TLS, and nothing else is held up', async () => {
    const hello = await helloOf('front.test');
    const at = hello.indexOf('front.test');
    const twice = Buffer.from(hello);
    twice.writeUInt16BE(5000, at - 2);
    const wrong = { serverName: undefined };
    assert.deepEqual(readHello(twice), wrong);
    assert.deepEqual(readHello(Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0])), wrong);
    assert.deepEqual(readHello(Buffer.from([22, 3, 1, 255, 255])), wrong, 'more than any hello has');
    assert.deepEqual(readHello(Buffer.concat(Array.from({ length: 40 }, () => Buffer.from([22, 3, 1, 0, 0])))), wrong, 'records of nothing');
    assert.deepEqual(readHello(Buffer.from([22, 3, 1, 0, 1, 1, 23, 3, 3])), 'incomplete');
    assert.deepEqual(readHello(Buffer.from([22, 3, 1, 0, 1, 1, 23, 3, 3, 0, 0])), wrong);
    assert.equal(readHello(Buffer.from('GET / HTTP/1.1')), undefined);
    const socket = await tunnel(`front.test:${portOf(greeting)}`);
    socket.write('EHLO x\r\n');
    assert.match(await text(socket), /^220 hello\r\n/);
  });
});
