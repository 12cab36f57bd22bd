/** Messages over a socket, with an end to how much waits: for one who does not read, and of one who asks faster than it can be answered. */
import type { Socket } from 'node:net';
import { AbstractMessageWriter, createMessageConnection, Message, SocketMessageReader, type DataCallback, type Disposable, type MessageConnection, type MessageWriter } from 'vscode-jsonrpc/node';

const MOST_QUEUED_BYTES = 16 << 20;
/** Requests that have not been answered; with more, nothing else is read. */
const MOST_UNANSWERED = 1000;

/** Every request is answered once, also one that is cancelled or goes wrong. */
class Unanswered {
  private count = 0;

  constructor(private readonly socket: Socket) {}

  asked(): void {
    this.count += 1;
    if (this.count > MOST_UNANSWERED) this.socket.pause();
  }

  answered(): void {
    this.count -= 1;
    if (this.count <= MOST_UNANSWERED && this.socket.isPaused()) this.socket.resume();
  }
}

class BoundedReader extends SocketMessageReader {
  constructor(
    socket: Socket,
    private readonly unanswered: Unanswered,
  ) {
    super(socket);
  }

  override listen(callback: DataCallback): Disposable {
    return super.listen((message) => {
      if (Message.isRequest(message)) this.unanswered.asked();
      callback(message);
    });
  }
}

/** Writes at once and in order. A socket with more in its queue than the bound when the next message comes is destroyed. */
class BoundedWriter extends AbstractMessageWriter implements MessageWriter {
  constructor(
    private readonly socket: Socket,
    private readonly unanswered: Unanswered,
  ) {
    super();
    socket.on('error', (error) => this.fireError(error));
    socket.on('close', () => this.fireClose());
  }

  write(message: Message): Promise<void> {
    const { socket } = this;
    if (Message.isResponse(message)) this.unanswered.answered();
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

export function overSocket(socket: Socket): MessageConnection {
  const unanswered = new Unanswered(socket);
  return createMessageConnection(new BoundedReader(socket, unanswered), new BoundedWriter(socket, unanswered));
}
