/** The runner that editors share, as the command line speaks with it. */
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SnapshotReport } from '../engine/sandboxReports.js';
import { RunnerError, type RunnerClient } from '../runner/client.js';
import { connectRunner, type RunnerConnection } from '../runner/connect.js';
import { identityOf } from '../runner/identity.js';
import { findPlace, type Place } from '../runner/place.js';
import type { SnapshotKind } from '../sandbox/provider.js';
import type { Session } from './session.js';

/** With the program that lies beside this one, which `start` starts if none runs. */
export async function connect(place: Place, { start, timeoutMs }: { start: boolean; timeoutMs?: number }): Promise<RunnerConnection | undefined> {
  const script = join(dirname(await realpath(process.argv[1]!)), 'runner.mjs');
  return connectRunner({ place, identity: await identityOf(script), client: 'cli', timeoutMs, start: start ? { execPath: process.execPath, script } : undefined });
}

/** What the runner answers; undefined if none runs and none is to be started. */
export async function askRunner<T>({ signal }: Session, start: boolean, ask: (runner: RunnerClient, options: { readonly signal: AbortSignal }) => Promise<T>): Promise<T | undefined> {
  const connection = await connect(await findPlace(), { start });
  try {
    return connection && (await ask(connection.client, { signal }));
  } finally {
    connection?.close();
  }
}

/** Takes a snapshot of a sandbox that the runner holds; undefined if there is no runner, or it holds none of that id in the session's folder. */
export function snapshotHeld(session: Session, id: string, taken: { readonly kind: SnapshotKind; readonly name?: string }): Promise<SnapshotReport | undefined> {
  const { root } = session.engine.layout;
  return askRunner(session, false, (runner, options) => runner.request('sandbox/snapshot', { root, id, ...taken }, options)).catch((error: unknown) => {
    if (error instanceof RunnerError && error.code === 'NoSuchSandbox') return undefined;
    throw error;
  });
}
