/** Snapshots: what there is, and what becomes of it. */
import { changesOfSnapshot } from '../../engine/snapshots/changes.js';
import { deleteSnapshot, describeSnapshot, editSnapshot, lineageOf, listSnapshots, pruneSnapshots } from '../../engine/snapshots/manage.js';
import { exportSnapshot, importSnapshot } from '../../engine/snapshots/transfer.js';
import type { SandboxRequests } from '../sandboxApi.js';
import type { HandlersOf, Services } from './handlers.js';

type Requests = Extract<keyof SandboxRequests, `snapshot/${string}`>;

export function snapshotHandlers(services: Services): HandlersOf<Requests> {
  const changing = async <T>(root: string, work: Promise<T>): Promise<T> => work.finally(() => services.changed(root, 'snapshots'));
  return {
    'snapshot/list': async ({ root }, call) => listSnapshots(await services.engine(root, call)),
    'snapshot/rename': async ({ root, id, name }, call) => changing(root, editSnapshot(await services.engine(root, call), id, { name })),
    'snapshot/note': async ({ root, id, note }, call) => changing(root, editSnapshot(await services.engine(root, call), id, { note })),
    'snapshot/pin': async ({ root, id, pinned }, call) => changing(root, editSnapshot(await services.engine(root, call), id, { pinned })),
    'snapshot/delete': async ({ root, id }, call) => ({ usedBy: await changing(root, deleteSnapshot(await services.engine(root, call), id)) }),
    'snapshot/export': async ({ root, id, file }, call) => ({ bytes: await exportSnapshot(await services.engine(root, call), id, file, call.signal) }),
    'snapshot/import': async ({ root, file }, call) => {
      const engine = await services.engine(root, call);
      const { id } = await changing(root, importSnapshot(engine, file, call.signal));
      return describeSnapshot(engine, id);
    },
    'snapshot/prune': async ({ root, ...request }, call) => changing(root, pruneSnapshots(await services.engine(root, call), request)),
    'snapshot/changes': async ({ root, id }, call) => changesOfSnapshot(await services.engine(root, call), id, call.signal),
    'snapshot/lineage': async ({ root, id }, call) => lineageOf(await services.engine(root, call), id),
  };
}
