/** Gives back what nothing needs: sandboxes of dead owners, snapshots that no template would use, old runs if asked. */
import type { Engine } from './engine.js';
import { reap } from './reap.js';

export interface PruneRequest {
  /** Every snapshot, not only those that a newer one of the same template replaced. */
  readonly allSnapshots?: boolean;
  /** Runs that ended more than this many milliseconds ago. */
  readonly runsOlderThanMs?: number;
  readonly dryRun?: boolean;
}

export interface PruneReport {
  readonly sandboxes: readonly string[];
  readonly snapshots: readonly { readonly id: string; readonly sizeBytes: number }[];
  readonly runs: readonly string[];
}

export async function prune(engine: Engine, request: PruneRequest): Promise<PruneReport> {
  const sandboxes = request.dryRun ? [] : (await reap(await engine.providers.answering())).map((sandbox) => sandbox.id);

  const newest = new Set<string>();
  const snapshots = [];
  for (const record of await engine.snapshots.list()) {
    const key = `${record.provider} ${record.file} ${record.template}`;
    if (!request.allSnapshots && !newest.has(key)) newest.add(key);
    else snapshots.push({ id: record.id, sizeBytes: record.sizeBytes });
  }
  if (!request.dryRun) for (const { id } of snapshots) await engine.deleteSnapshot(id);

  const before = request.runsOlderThanMs === undefined ? -Infinity : Date.now() - request.runsOlderThanMs;
  const runs = (await engine.list()).map(({ run }) => run).filter((run) => !['building', 'running'].includes(run.state) && (run.finishedAt ?? run.createdAt) < before);
  if (!request.dryRun) for (const run of runs) await engine.deleteRun(run.id);
  return { sandboxes, snapshots, runs: runs.map((run) => run.id) };
}
