/** Requests to what listens in a sandbox, here a server of this process. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createSocketServer, type AddressInfo, type Server as SocketServer } from 'node:net';
import { passOn } from '../../../src/facade/e2b/ports.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';

const SILENCE_MS = 200;

describe('requests to what listens in a sandbox', () => {
  const open: (Server | SocketServer)[] = [];
  afterEach(() => open.splice(0).forEach((server) => server.close()));

  /** The address of a way to a server that has been written with bare hands. */
  async function wayTo(serve: (write: (text: string) => void) => void): Promise<{ url: string; closed: Promise<unknown> }> {
    let onClosed!: (value: unknown) => void;
    const closed = new Promise((resolve) => (onClosed = resolve));
    const inside = createSocketServer((socket) => {
      socket.on('error', () => undefined).once('close', onClosed).once('data', () => serve((text) => void socket.write(text)));
    }).listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const sandbox = { connect: (port: number) => Promise.resolve(connect(port, '127.0.0.1')) } as unknown as Sandbox;
    const outside = createServer((request, response) => void passOn({ sandbox, sandboxID: 'i0' }, (inside.address() as AddressInfo).port, request, response, SILENCE_MS)).listen(0, '127.0.0.1');
    await once(outside, 'listening');
    open.push(inside, outside);
    return { url: `http://127.0.0.1:${(outside.address() as AddressInfo).port}`, closed };
  }

  it('one that is never answered ends with 504, and so does its connection inside', async () => {
    const { url, closed } = await wayTo(() => undefined);
    const response = await fetch(url, { headers: { connection: 'close' } });
    assert.equal(response.status, 504);
    assert.match(((await response.json()) as { message: string }).message, /has not answered within 0.2 s/);
    await closed;
  });

  it('an answer that falls silent is cut, not taken for whole', async () => {
    const { url, closed } = await wayTo((write) => write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'));
    const response = await fetch(url, { headers: { connection: 'close' } });
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    await closed;
  });
});
