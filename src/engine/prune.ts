/** Gives back what nothing needs: sandboxes of dead owners, snapshots that no template would use, old runs if asked. */
import type { Engine } from './engine.js';
import { reap } from './reap.js';
import { pruneSnapshots, removeForgotten } from './snapshots/manage.js';

export interface PruneRequest {
  /** Every snapshot that is not pinned or in use, not only builds that a newer one of the same template replaced. */
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

  for (const provider of request.dryRun ? [] : await engine.providers.answering()) await removeForgotten(engine, provider);
  const { removed } = await pruneSnapshots(engine, { replaced: !request.allSnapshots, dryRun: request.dryRun });
  const snapshots = removed.map(({ id, bytes }) => ({ id, sizeBytes: bytes }));

  const before = request.runsOlderThanMs === undefined ? -Infinity : Date.now() - request.runsOlderThanMs;
  const runs = (await engine.list()).map(({ run }) => run).filter((run) => !['building', 'running'].includes(run.state) && (run.finishedAt ?? run.createdAt) < before);
  if (!request.dryRun) for (const run of runs) await engine.deleteRun(run.id);
  return { sandboxes, snapshots, runs: runs.map((run) => run.id) };
}
