/** Messages over a socket, with an end to how much waits for one who does not read. */
import type { Socket } from 'node:net';
import { AbstractMessageWriter, createMessageConnection, SocketMessageReader, type Message, type MessageConnection, type MessageWriter } from 'vscode-jsonrpc/node';

const MOST_QUEUED_BYTES = 16 << 20;

/** Writes at once and in order. A socket with more in its queue than the bound when the next message comes is destroyed. */
class BoundedWriter extends AbstractMessageWriter implements MessageWriter {
  constructor(private readonly socket: Socket) {
    super();
    socket.on('error', (error) => this.fireError(error));
    socket.on('close', () => this.fireClose());
  }

  write(message: Message): Promise<void> {
    const { socket } = this;
    if (socket.writableLength > MOST_QUEUED_BYTES) socket.destroy(new Error(`${MOST_QUEUED_BYTES >> 20} MB were waiting to be read`));
    if (!socket.writable) return Promise.reject(new Error('the connection is closed'));
    const body = Buffer.from(JSON.stringify(message));
    socket.cork();
    socket.write(`Content-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    socket.uncork();
    return Promise.resolve();
  }

  end(): void {
    this.socket.end();
  }
}

export const overSocket = (socket: Socket): MessageConnection => createMessageConnection(new SocketMessageReader(socket), new BoundedWriter(socket));
