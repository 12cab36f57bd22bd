/** A server in a sandbox whose count is nowhere but in its memory. */
import { strict as assert } from 'node:assert';
import { text } from 'node:stream/consumers';
import type { Sandbox } from '../../../src/sandbox/provider.js';
import { output, until } from './bench.js';

export const PORT = 7070;
/** Answers each connection with one more than the last. */
export const COUNTER = `import socket
s = socket.create_server(("127.0.0.1", ${PORT}))
n = 0
while True:
    c, _ = s.accept()
    n += 1
    c.sendall(b"%d" % n)
    c.close()`;

/** Starts it, and resolves when it listens. */
export async function startCounter(sandbox: Sandbox): Promise<void> {
  await output(sandbox, ['sh', '-c', `setsid python3 -c '${COUNTER}' </dev/null >/dev/null 2>&1 &`]);
  await until(async () => (await sandbox.ports()).some(({ port }) => port === PORT), 'the server');
}

export const next = async (sandbox: Sandbox): Promise<number> => Number(await text(await sandbox.connect(PORT)));

/** Starts one that has counted to `n`. */
export async function counted(sandbox: Sandbox, n: number): Promise<Sandbox> {
  await startCounter(sandbox);
  for (let time = 1; time <= n; time++) assert.equal(await next(sandbox), time);
  return sandbox;
}
