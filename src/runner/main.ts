/** The runner process: the engine behind JSON-RPC on standard input and output. It ends with its connection, and ends all that it began. */
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { RunnerServer } from './server.js';

const connection = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
// Standard output is the wire: whatever else writes there must not.
console.log = console.error;

const server = new RunnerServer();
let closing = false;

async function close(code: number): Promise<void> {
  if (closing) return;
  closing = true;
  await server.close().catch(() => undefined);
  process.exit(code);
}

connection.onClose(() => void close(0));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void close(0));
process.stdout.on('error', () => void close(0));
server.serve(connection);
