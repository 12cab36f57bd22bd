// Answers, and will not end: not when asked, not when its input ends, not by SIGTERM.
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node.js';

const connection = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
connection.onRequest('sandbox/list', () => [process.pid]);
connection.onRequest('shutdown', () => new Promise(() => undefined));
process.on('SIGTERM', () => undefined);
setInterval(() => undefined, 1000);
connection.listen();
