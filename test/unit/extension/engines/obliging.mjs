// Answers as the engine does, dies when it is asked to delete a run, and waits when it is asked to build.
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node.js';

const connection = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
connection.onRequest('sandbox/list', () => [process.pid]);
connection.onRequest('run/list', async () => {
  await connection.sendNotification('changed', { root: '/w', kind: 'runs' });
  return [];
});
connection.onRequest('run/delete', () => {
  console.error('about to die');
  process.exit(3);
});
connection.onRequest('build', (_params, token) => {
  const log = (message) => void connection.sendNotification('log', { level: 'info', message });
  log('build began');
  return new Promise((_resolve, reject) => token.onCancellationRequested(() => {
    log('build cancelled');
    reject(new Error('the request was cancelled'));
  }));
});
connection.onRequest('shutdown', () => null);
connection.onClose(() => process.exit(0));
connection.listen();
