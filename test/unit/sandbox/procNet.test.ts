import { strict as assert } from 'node:assert';
import { listeningSockets, portsOf } from '../../../src/sandbox/procNet.js';

const TABLES = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 0 0 10 0
   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0 20 4 30 10 -1
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 444 1 0
   1: 00000000000000000000000001000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 555 1 0
   2: 0000000000000000FFFF00000100007F:1F93 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 666 1 0
   3: B80D0120000000000000000001000000:1F94 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1 0
   9: nonsense:XX 0A
`;

describe('tables of sockets', () => {
  it('give what listens, with addresses as they are written', () => {
    const sockets = listeningSockets(TABLES);
    assert.deepEqual(sockets.map(({ port, address, inode }) => `${address} ${port} ${inode}`), ['127.0.0.1 8080 111', '0.0.0.0 22 222', ':: 8081 444', '::1 8082 555', '127.0.0.1 8083 666', '2001:db8::1 8084 777']);
  });

  it('name a port and address once, by port', () => {
    const twice = listeningSockets(TABLES + TABLES);
    assert.deepEqual(portsOf(twice).map(({ port }) => port), [22, 8080, 8081, 8082, 8083, 8084]);
    assert.deepEqual(portsOf([]), []);
  });
});
