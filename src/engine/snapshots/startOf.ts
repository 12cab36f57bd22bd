/** The snapshot that a run is asked to start its episodes from. */
import type { SnapshotRecord } from '../../store/records.js';
import type { Template } from '../../template/template.js';
import type { Engine } from '../engine.js';

/** Rejects with one sentence if there is none by that id, or if episodes of the template cannot start from it. */
export async function startOf(engine: Engine, template: Template, id: string): Promise<SnapshotRecord> {
  const snapshot = await engine.snapshots.find(id);
  if (snapshot.template !== template.name) throw new Error(`the snapshot ${id} is of the template ${snapshot.template}, not of ${template.name}`);
  const online = snapshot.settings?.network === 'full';
  if (snapshot.kind === 'memory' && online !== (template.network.episode === 'full')) throw new Error(`the processes of the memory snapshot ${id} have ${online ? 'a network' : 'no network'}, and the template asks for ${online ? 'none' : 'one'}: take another snapshot, or change \`network\``);
  const provider = await engine.providers.get(snapshot.provider);
  if (!(await provider.hasSnapshot(snapshot))) throw new Error(`${provider.title} does not have the snapshot ${id} any more; delete it`);
  return snapshot;
}
