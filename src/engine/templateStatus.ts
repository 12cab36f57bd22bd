/** What state a template is in, without building, pulling or asking any provider. */
import { readFile } from 'node:fs/promises';
import type { SnapshotRecord } from '../store/records.js';
import { templateDigest } from '../template/digest.js';
import { loadTemplate } from '../template/load.js';
import { parseTemplate } from '../template/parse.js';
import { TemplateError, type Template } from '../template/template.js';
import { PLATFORM, baseKey } from './builds.js';
import type { Engine } from './engine.js';
import type { TemplateStatus } from './reports.js';

/** Compares with the newest snapshot; that the base image moved on is only seen by a build. */
export async function templateStatus(engine: Engine, file: string): Promise<TemplateStatus> {
  const snapshots = (await engine.snapshots.list()).filter((record) => record.file === file);
  let template: Template;
  try {
    template = await loadTemplate(file);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const text = await readFile(file, 'utf8').catch(() => '');
    return { file, name: parseTemplate(text, file).template?.name, state: 'invalid', snapshots, problems: error.problems };
  }
  const known = { file, name: template.name, snapshots, problems: [] };
  // What a person made of a sandbox is no build: no run takes it by itself.
  const builds = snapshots.filter(({ origin }) => origin === undefined);
  for (const snapshot of builds) {
    const changed = await changedParts(template, snapshot);
    if (changed.length === 0) return { ...known, state: 'built', current: snapshot.id };
  }
  if (!builds[0]) return { ...known, state: 'unbuilt' };
  return { ...known, state: 'stale', changed: await changedParts(template, builds[0]) };
}

/** Names of the parts of a build that are not as they were. */
export async function changedParts(template: Template, snapshot: SnapshotRecord): Promise<string[]> {
  const { parts } = await templateDigest(template, { provider: snapshot.provider, platform: PLATFORM, base: baseKey(template, snapshot.base) });
  return Object.entries(parts).flatMap(([part, digest]) => (digest === snapshot.parts[part] ? [] : [part]));
}
