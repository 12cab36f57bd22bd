/** The server name in the first message of TLS (RFC 8446, 4.1.2; RFC 6066, 3), which may lie in several records. What is read is hostile. */

export interface Hello {
  /** The one name that it asks for, as it is written; undefined if there is none, or none that can be read without doubt. */
  readonly serverName: string | undefined;
}

/** Most bytes and records until it is whole. */
const MOST_HELLO = 16 << 10;
const MOST_RECORDS = 16;

const HANDSHAKE = 22;
/** Of SSL 3.0 and of all versions of TLS. */
const MAJOR_VERSION = 3;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** Of what a client has sent so far: `incomplete` if more is needed to tell, undefined if it does not begin with TLS. */
export function readHello(bytes: Buffer): Hello | 'incomplete' | undefined {
  if ((bytes.length > 0 && bytes[0] !== HANDSHAKE) || (bytes.length > 1 && bytes[1] !== MAJOR_VERSION)) return undefined;
  let message = Buffer.alloc(0);
  for (let at = 0, records = 0; ; records++) {
    if (at + 5 > bytes.length) return 'incomplete';
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE || end > MOST_HELLO || records === MOST_RECORDS) return { serverName: undefined };
    if (end > bytes.length) return 'incomplete';
    message = Buffer.concat([message, bytes.subarray(at + 5, end)]);
    at = end;
    if (message.length < 4) continue;
    const length = message.readUIntBE(1, 3);
    if (message.length >= 4 + length) return { serverName: message[0] === CLIENT_HELLO ? serverNameOf(message.subarray(4, 4 + length)) : undefined };
  }
}

function serverNameOf(body: Buffer): string | undefined {
  try {
    const hello = new Reader(body);
    hello.take(2 + 32);
    hello.vector(1);
    hello.vector(2);
    hello.vector(1);
    const extensions = hello.vector(2);
    const names: string[] = [];
    while (extensions.left > 0) {
      const type = extensions.number(2);
      const data = extensions.vector(2);
      if (type !== SERVER_NAME) continue;
      const list = data.vector(2);
      while (list.left > 0) {
        const kind = list.number(1);
        const name = list.vector(2);
        if (kind === HOST_NAME) names.push(name.take(name.left).toString('latin1'));
      }
    }
    // A server may take another one of several than the one that was judged.
    return names.length === 1 ? names[0] : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Throws `RangeError` beyond the end. */
class Reader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Buffer {
    if (length > this.left) throw new RangeError('the message is too short');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** What follows its own length, which has so many bytes. */
  vector(bytes: number): Reader {
    return new Reader(this.take(this.number(bytes)));
  }
}
