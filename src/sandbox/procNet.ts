/** What listens in a network namespace, as the kernel's tables of TCP sockets have it (`/proc/net/tcp` and `tcp6`, see proc(5)). */
import type { ListeningPort } from './provider.js';

export interface ListeningSocket extends ListeningPort {
  /** Number of the socket, as in the links `socket:[N]` under `/proc/PID/fd`. */
  readonly inode: number;
}

/** Code of the state LISTEN (`include/net/tcp_states.h`). */
const LISTEN = '0A';

/** Sockets that listen, from the text of one or both tables. Lines that are none are passed over. */
export function listeningSockets(tables: string): ListeningSocket[] {
  const found: ListeningSocket[] = [];
  for (const line of tables.split('\n')) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    const [, address, port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local ?? '') ?? [];
    if (address !== undefined && state === LISTEN) found.push({ port: Number.parseInt(port!, 16), address: text(address), inode: Number(inode) });
  }
  return found;
}

/** One entry for each port and address, by port. */
export function portsOf(sockets: readonly ListeningSocket[]): ListeningPort[] {
  const unique = new Map(sockets.map(({ port, address }) => [`${port} ${address}`, { port, address }]));
  return [...unique.values()].sort((a, b) => a.port - b.port || (a.address < b.address ? -1 : 1));
}

/** Addresses stand there as 32-bit words in the machine's own order of bytes, which is little-endian wherever this runs. */
function text(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes.readUInt16BE(10) === 0xffff) return bytes.subarray(12).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(':');
  return groups.replace(/(^|:)0(:0)+(:|$)/, '::').replace(/^0::/, '::');
}
