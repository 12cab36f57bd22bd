/** Snapshots as a person manages them: what there is, what it is called, where it comes from, and its end. */
import { isOwnerAlive } from '../../sandbox/owner.js';
import type { Provider } from '../../sandbox/provider.js';
import type { SnapshotRecord } from '../../store/records.js';
import { loadTemplate } from '../../template/load.js';
import { TemplateError, type Template } from '../../template/template.js';
import type { Engine } from '../engine.js';
import type { SnapshotList, SnapshotPruneReport, SnapshotPruneRequest, SnapshotReport, SnapshotUse } from '../sandboxReports.js';
import { changedParts } from '../templateStatus.js';
import { SnapshotInUse } from './uses.js';

const MOST_NAME = 100;
const MOST_NOTE = 2000;
const QUERY = { timeoutMs: 20_000 };

export async function listSnapshots(engine: Engine): Promise<SnapshotList> {
  const records = await engine.snapshots.list();
  const [uses, lives, sizes, templates] = [await usesOf(engine), await livesOf(engine), new Map<string, { own?: number; exists: boolean }>(), new Map<string, Promise<Template | undefined>>()];
  let totalBytes = 0;
  for (const provider of await keepers(engine, records)) {
    const own = records.filter((record) => record.provider === provider.id);
    const measured = await provider.sizes(own, QUERY).catch(() => undefined);
    totalBytes += measured?.total ?? 0;
    for (const record of own) sizes.set(record.id, { own: measured?.own.get(record.ref), exists: measured ? measured.own.has(record.ref) : true });
  }
  const snapshots = await Promise.all(
    records.map(async (record): Promise<SnapshotReport> => ({
      ...record,
      ownBytes: sizes.get(record.id)?.own,
      exists: sizes.get(record.id)?.exists,
      stale: await staleOf(record, templates),
      children: records.filter(({ parent }) => parent === record.id).map(({ id }) => id),
      usedBy: uses.get(record.id) ?? [],
      live: lives.get(record.id) ?? 0,
    })),
  );
  return { snapshots, totalBytes };
}

export async function describeSnapshot(engine: Engine, id: string): Promise<SnapshotReport> {
  await engine.snapshots.find(id);
  return (await listSnapshots(engine)).snapshots.find((snapshot) => snapshot.id === id)!;
}

/** Changes what a person has said about one. An empty text takes it away. */
export async function editSnapshot(engine: Engine, id: string, change: { readonly name?: string; readonly note?: string; readonly pinned?: boolean }): Promise<SnapshotReport> {
  if ((change.name?.length ?? 0) > MOST_NAME || /\p{Cc}/u.test(change.name ?? '')) throw new Error(`the name of a snapshot is one line of at most ${MOST_NAME} characters`);
  if ((change.note?.length ?? 0) > MOST_NOTE) throw new Error(`the note of a snapshot has at most ${MOST_NOTE} characters`);
  const record = await engine.snapshots.find(id);
  const text = (value: string | undefined, before: string | undefined): string | undefined => (value === undefined ? before : value.trim() || undefined);
  await engine.snapshots.save({ ...record, name: text(change.name, record.name), note: text(change.note, record.note), pinned: (change.pinned ?? record.pinned) || undefined });
  return describeSnapshot(engine, id);
}

/** Removes one with all that its provider keeps of it. Rejects with `SnapshotInUse` while a run or a sandbox needs it. */
export async function deleteSnapshot(engine: Engine, id: string): Promise<readonly SnapshotUse[]> {
  const record = await engine.snapshots.find(id);
  return engine.uses.during(id, async () => {
    await engine.looks.end(id);
    const why = await usedNow(engine, id);
    if (why !== undefined) throw new SnapshotInUse(`the snapshot ${id} is in use: ${why}`);
    const usedBy = (await usesOf(engine)).get(id) ?? [];
    await engine.builds.remove(record, await engine.providers.get(record.provider));
    await engine.snapshots.bury({ id, template: record.template, deletedAt: Date.now(), usedBy });
    return usedBy;
  });
}

/** What needs it now, in another process or in this one. */
async function usedNow(engine: Engine, id: string): Promise<string | undefined> {
  const runs = (await engine.list()).filter(({ run }) => run.snapshot?.id === id && (run.state === 'running' || run.state === 'building'));
  if (runs[0]) return `run #${runs[0].run.number} restores from it; cancel it, or wait for its end`;
  const live = (await livesOf(engine)).get(id) ?? 0;
  return live > 0 ? `${live === 1 ? 'a sandbox lives' : `${live} sandboxes live`} on it; end ${live === 1 ? 'it' : 'them'} first` : undefined;
}

/** Which go: all that every given condition is true of, but for those that are pinned or in use. */
export async function pruneSnapshots(engine: Engine, request: SnapshotPruneRequest): Promise<SnapshotPruneReport> {
  const { snapshots, totalBytes } = await listSnapshots(engine);
  const newest = new Set<string>();
  const isReplaced = (snapshot: SnapshotRecord): boolean => {
    const key = `${snapshot.provider} ${snapshot.file} ${snapshot.template}`;
    return snapshot.origin === undefined && (newest.has(key) || !newest.add(key));
  };
  // Newest first: the first build of each template is the one that a run would use.
  const replaced = new Set(snapshots.filter(isReplaced).map(({ id }) => id));
  const before = Date.now() - (request.olderThanMs ?? 0);
  const candidates = snapshots.filter(({ id, pinned, createdAt }) => !pinned && (!request.replaced || replaced.has(id)) && createdAt <= before).reverse();
  const removed: { id: string; bytes: number }[] = [];
  const kept: { id: string; why: string }[] = [];
  let left = totalBytes;
  for (const { id, ownBytes, sizeBytes } of candidates) {
    if (request.keepBytes !== undefined && left <= request.keepBytes) break;
    const bytes = ownBytes ?? sizeBytes;
    const why = request.dryRun ? await usedNow(engine, id) : await deleteSnapshot(engine, id).then(() => undefined, (error: Error) => error.message);
    if (why !== undefined) kept.push({ id, why });
    else {
      removed.push({ id, bytes });
      left -= bytes;
    }
  }
  return { removed, kept };
}

/** From the first that it goes back to, to those that were made from it. */
export async function lineageOf(engine: Engine, id: string): Promise<{ id: string; snapshot?: SnapshotReport }[]> {
  await engine.snapshots.find(id);
  const all = new Map((await listSnapshots(engine)).snapshots.map((snapshot) => [snapshot.id, snapshot]));
  const line: { id: string; snapshot?: SnapshotReport }[] = [];
  const seen = new Set<string>();
  for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = all.get(at)?.parent) {
    seen.add(at);
    line.unshift({ id: at, snapshot: all.get(at) });
  }
  const waiting = [...(all.get(id)?.children ?? [])];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    if (seen.has(at)) continue;
    seen.add(at);
    line.push({ id: at, snapshot: all.get(at) });
    waiting.push(...(all.get(at)?.children ?? []));
  }
  return line;
}

/** Removes what forks of dead processes needed. */
export async function removeForgotten(engine: Engine, provider: Provider): Promise<void> {
  for (const record of await engine.snapshots.temporaries()) {
    if (record.provider !== provider.id || (await isOwnerAlive(record.temporary!))) continue;
    await engine.builds.remove(record, provider).catch(() => undefined);
  }
}

async function usesOf(engine: Engine): Promise<Map<string, SnapshotUse[]>> {
  const uses = new Map<string, SnapshotUse[]>();
  for (const { id, number, snapshot } of await engine.runs.list()) if (snapshot) uses.set(snapshot.id, [...(uses.get(snapshot.id) ?? []), { id, number }]);
  return uses;
}

/** Sandboxes that live, by the snapshot that they were restored from. One of a dead owner does not count: it is reaped. */
async function livesOf(engine: Engine): Promise<Map<string, number>> {
  const lives = new Map<string, number>();
  const looks = engine.looks.ids();
  for (const provider of await keepers(engine, await engine.snapshots.list())) {
    for (const { id, labels, state } of await provider.list(QUERY).catch(() => [])) {
      if (labels.snapshot === undefined || looks.includes(id) || state === 'exited' || !(await isOwnerAlive(labels.owner))) continue;
      lives.set(labels.snapshot, (lives.get(labels.snapshot) ?? 0) + 1);
    }
  }
  return lives;
}

/** Providers that keep some of these. */
function keepers(engine: Engine, records: readonly SnapshotRecord[]): Promise<Provider[]> {
  return Promise.all([...new Set(records.map(({ provider }) => provider))].map((id) => engine.providers.get(id)));
}

async function staleOf(record: SnapshotRecord, templates: Map<string, Promise<Template | undefined>>): Promise<readonly string[]> {
  if (record.file === '') return [];
  if (!templates.has(record.file)) templates.set(record.file, loadTemplate(record.file).catch((error: unknown) => (error instanceof TemplateError ? undefined : Promise.reject(error))));
  const template = await templates.get(record.file)!.catch(() => undefined);
  return template ? changedParts(template, record).catch(() => ['template']) : ['template'];
}
