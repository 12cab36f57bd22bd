/** What a name means that a client gives: a template file of the workspace, a snapshot, one that a client has built, or the base of all. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Engine } from '../engine/engine.js';
import { writeJson } from '../store/json.js';
import type { SnapshotRecord } from '../store/records.js';
import { findDuplicateNames, readTemplate } from '../template/load.js';
import type { Template } from '../template/template.js';
import { Refusal } from './e2b/machine.js';

const SUFFIX = '.rlenv.yaml';
/** Folders that are not looked into: what else begins with a dot is not, either. */
const PASSED_OVER = new Set(['node_modules']);
const MOST_FILES = 2000;
const MOST_DEPTH = 8;

/** What there is without any file. */
const BASE = { name: 'base', description: 'What clients get who ask for nothing else: the provider\'s own root.', episode: { run: 'true' }, reward: 'exit_code' };

export type Found = { readonly template: Template } | { readonly snapshot: SnapshotRecord };

export class Templates {
  constructor(private readonly engine: Engine) {}

  /** Undefined if there is none. Rejects with a `Refusal` if it has problems, or shares its name with another. */
  async find(name: string): Promise<Found | undefined> {
    const snapshots = await this.engine.snapshots.list();
    const snapshot = snapshots.find(({ id }) => id === name);
    if (snapshot) return { snapshot };
    const files = await this.files();
    const named: Template[] = [];
    for (const file of files) {
      // Most files are named as what they hold, but what counts is inside.
      const text = await readFile(file, 'utf8').catch(() => '');
      if (!text.includes(name)) continue;
      const { template, problems } = await readTemplate(file);
      if (template?.name === name) named.push(template);
      else if (!template && file.endsWith(`/${name}${SUFFIX}`)) throw new Refusal(400, problems.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'));
    }
    const [duplicate] = findDuplicateNames(named);
    if (duplicate) throw new Refusal(400, `${duplicate.file}: ${duplicate.message}`);
    if (named[0]) return { template: named[0] };
    const called = snapshots.find((each) => each.name === name);
    if (called) return { snapshot: called };
    const own = await readTemplate(this.own(name)).catch(() => undefined);
    if (own?.template) return { template: own.template };
    return name === BASE.name ? { template: await this.write(BASE) } : undefined;
  }

  /** Keeps a template that no person has written; JSON is YAML. Rejects with a `Refusal` if it is none. */
  async write(content: { readonly name: string }): Promise<Template> {
    const file = this.own(content.name);
    await this.engine.layout.prepare();
    await mkdir(this.engine.layout.facade, { recursive: true });
    await writeJson(file, content);
    const { template, problems } = await readTemplate(file);
    if (!template) throw new Refusal(400, problems.map(({ message }) => message).join('\n'));
    return template;
  }

  isOwn({ file }: Template): boolean {
    return dirname(file) === this.engine.layout.facade;
  }

  private own(name: string): string {
    return join(this.engine.layout.facade, `${encodeURIComponent(name).replaceAll('.', '%2E').slice(0, 200)}${SUFFIX}`);
  }

  private async files(): Promise<string[]> {
    const found: string[] = [];
    const look = async (folder: string, depth: number): Promise<void> => {
      for (const each of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        if (found.length >= MOST_FILES) return;
        if (each.isFile() && each.name.endsWith(SUFFIX)) found.push(join(folder, each.name));
        else if (each.isDirectory() && depth < MOST_DEPTH && !each.name.startsWith('.') && !PASSED_OVER.has(each.name)) await look(join(folder, each.name), depth + 1);
      }
    };
    await look(this.engine.layout.root, 0);
    return found;
  }
}
