/** package.json and the code name the same things, and every name is used. */
import assert from 'node:assert/strict';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Commands, CompareViewType, Container, Contexts, InternalCommands, Items, RunViewType, SandboxScheme, SandboxViewScheme, TerminalProfile, TraceDiffViewType, TraceEditorType, TraceOptionEditorType, TraceViewType, Settings, TEMPLATE_GLOB, Views } from '../../../src/extension/ids.js';

interface MenuItem {
  readonly command: string;
  readonly when?: string;
  readonly group?: string;
}
interface Manifest {
  readonly main: string;
  readonly icon: string;
  readonly l10n: string;
  readonly activationEvents: readonly string[];
  readonly capabilities: { readonly untrustedWorkspaces: { readonly supported: string; readonly restrictedConfigurations: readonly string[] } };
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly enablement?: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string; readonly icon: string }[]>>;
    readonly viewsContainers: { readonly activitybar: readonly { readonly id: string; readonly icon: string }[] };
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string; readonly when?: string }[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly keybindings: readonly (MenuItem & { readonly key: string })[];
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
    readonly customEditors: readonly { readonly viewType: string; readonly priority: string; readonly selector: readonly { readonly filenamePattern: string }[] }[];
    readonly walkthroughs: readonly { readonly steps: readonly { readonly media: { readonly markdown: string }; readonly completionEvents: readonly string[] }[] }[];
    readonly terminal: { readonly profiles: readonly { readonly id: string }[] };
    readonly yamlValidation: readonly { readonly fileMatch: string; readonly url: string }[];
    readonly jsonValidation: readonly { readonly url: string }[];
  };
}

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const sorted = (names: Iterable<string>) => [...names].sort();

async function sources(folder: string): Promise<string> {
  const names = (await readdir(join(root, folder), { recursive: true })).filter((name) => name.endsWith('.ts'));
  return (await Promise.all(names.map((name) => read(join(folder, name))))).join('\n');
}

describe('manifest', () => {
  let manifest: Manifest;
  let code: string;

  before(async () => {
    manifest = JSON.parse(await read('package.json')) as Manifest;
    code = await sources('src/extension');
  });

  const steps = () => manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  const menuItems = () => [...Object.values(manifest.contributes.menus).flat(), ...manifest.contributes.keybindings];
  const clauses = () => [
    ...menuItems().map(({ when }) => when),
    ...manifest.contributes.viewsWelcome.map(({ when }) => when),
    ...manifest.contributes.commands.map(({ enablement }) => enablement),
  ].filter((when) => when !== undefined);

  it('contributes exactly the commands that the code names', () => {
    assert.deepEqual(sorted(manifest.contributes.commands.map(({ command }) => command)), sorted(Object.values(Commands)));
  });

  it('registers every command once', () => {
    for (const key of Object.keys(Commands)) assert.equal(code.match(new RegExp(`register(<\\w+>)?\\(Commands\\.${key},`, 'g'))?.length, 1, key);
    for (const key of Object.keys(InternalCommands)) assert.equal(code.match(new RegExp(`register(<\\w+>)?\\(InternalCommands\\.${key},`, 'g'))?.length, 1, key);
  });

  it('keeps internal commands out of the palette by not contributing them', () => {
    for (const id of Object.values(InternalCommands)) assert.match(id, /^_rlSandboxes\./);
  });

  it('contributes exactly the views and the container that the code names', () => {
    assert.deepEqual(manifest.contributes.viewsContainers.activitybar.map(({ id }) => id), [Container]);
    assert.deepEqual(sorted(manifest.contributes.views[Container]!.map(({ id }) => id)), sorted(Object.values(Views)));
  });

  it('contributes exactly the settings that the code reads', () => {
    assert.deepEqual(sorted(Object.keys(manifest.contributes.configuration.properties)), sorted(Object.values(Settings)));
    for (const key of Object.keys(Settings)) assert.match(code, new RegExp(`Settings\\.${key}\\b`), key);
  });

  it('puts only contributed commands into menus, keys and welcome texts', async () => {
    const known = new Set<string>(Object.values(Commands));
    for (const { command } of menuItems()) assert.ok(known.has(command), command);
    for (const event of steps().flatMap(({ completionEvents }) => completionEvents)) assert.ok(known.has(event.replace(/^onCommand:/, '')), event);
    const texts = Object.values(JSON.parse(await read('package.nls.json')) as Record<string, string>).join('\n');
    for (const [, command] of texts.matchAll(/\(command:([\w.]+)\)/g)) {
      assert.ok(known.has(command!) || ['vscode.openFolder', 'workbench.trust.manage'].includes(command!), command);
    }
  });

  it('uses only known views, items and context keys in when-clauses, and each of them', () => {
    const views = new Set<string>();
    const items = new Set<string>();
    const keys = new Set<string>();
    for (const clause of clauses()) {
      for (const [, view] of clause.matchAll(/\bview == ([\w.]+)/g)) views.add(view!);
      for (const [, item] of clause.matchAll(/\bviewItem == ([\w.]+)/g)) items.add(item!);
      for (const [, source] of clause.matchAll(/\bviewItem =~ \/(.*?)\/(?=\s|$)/g)) {
        const matching = Object.values(Items).filter((item) => new RegExp(source!).test(item));
        assert.ok(matching.length > 0, `${clause} matches no item`);
        for (const item of matching) items.add(item);
      }
      for (const [, key] of clause.matchAll(/(?<!== )\b(rlSandboxes\.\w+)/g)) keys.add(key!);
    }
    const contributed = new Set<string>(Object.values(Views));
    for (const view of views) assert.ok(contributed.has(view), view);
    assert.deepEqual(sorted(items), sorted(Object.values(Items)));
    assert.deepEqual(sorted(keys), sorted(Object.values(Contexts)));
  });

  it('uses no other key in when-clauses than its own and those of VS Code that it means', () => {
    const builtin = ['view', 'viewItem', 'resourceFilename', 'editorTextFocus', 'isWorkspaceTrusted', 'workbenchState', 'empty', 'activeCustomEditorId', 'activeWebviewPanelId', 'editorHasSelection', 'false'];
    for (const clause of clauses()) {
      const names = clause.replace(/\/.*?\/(?=\s|$)/g, '').replace(/(==|!=) [\w.]+/g, '').match(/[A-Za-z_][\w.]*/g) ?? [];
      for (const name of names) assert.ok(builtin.includes(name) || Object.values<string>(Contexts).includes(name), `${name} in ${clause}`);
    }
  });

  it('keeps to two inline actions for each item', () => {
    const inline = manifest.contributes.menus['view/item/context']!.filter(({ group }) => group?.startsWith('inline'));
    for (const item of Object.values(Items)) {
      const shown = inline.filter(({ when }) => {
        const equal = /viewItem == ([\w.]+)/.exec(when!)?.[1];
        const pattern = /viewItem =~ \/(.*?)\/(?=\s|$)/.exec(when!)?.[1];
        return equal === item || (pattern !== undefined && new RegExp(pattern).test(item));
      });
      assert.ok(shown.length <= 2, `${item}: ${shown.map(({ command }) => command).join(', ')}`);
    }
  });

  it('contributes exactly the editors that the code registers, and takes no file whose name says little', () => {
    assert.deepEqual(manifest.contributes.customEditors.map(({ viewType, priority }) => [viewType, priority]), [[TraceEditorType, 'default'], [TraceOptionEditorType, 'option']]);
    for (const { filenamePattern } of manifest.contributes.customEditors[0]!.selector) assert.doesNotMatch(filenamePattern, /^\*\.jsonl?$/);
  });

  it('contributes exactly the terminal profile that the code provides', () => {
    assert.deepEqual(manifest.contributes.terminal.profiles.map(({ id }) => id), [TerminalProfile]);
  });

  it('activates only for what cannot be told from its contributions', () => {
    assert.deepEqual(sorted(manifest.activationEvents), sorted([`onFileSystem:${SandboxScheme}`, `onFileSystem:${SandboxViewScheme}`, 'onLanguage:yaml', 'onUri', `onWebviewPanel:${RunViewType}`, `onWebviewPanel:${CompareViewType}`, `onWebviewPanel:${TraceViewType}`, `onWebviewPanel:${TraceDiffViewType}`, 'workspaceContains:.rlenv/runs']));
  });

  it('restricts what decides how code is run in a workspace that is not trusted', () => {
    const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.equal(supported, 'limited');
    assert.deepEqual(restrictedConfigurations, [Settings.provider]);
  });

  it('disables without trust whatever the code refuses without trust', () => {
    for (const [key, id] of Object.entries(Commands)) {
      const definition = code.slice(code.indexOf(`(Commands.${key}, {`), code.indexOf('});', code.indexOf(`(Commands.${key}, {`)));
      const enablement = manifest.contributes.commands.find(({ command }) => command === id)!.enablement ?? '';
      assert.equal(definition.includes('needsTrust: true'), enablement.includes('isWorkspaceTrusted'), id);
    }
  });

  it('names files that are there', async () => {
    const { contributes, icon } = manifest;
    const files = [icon, ...contributes.viewsContainers.activitybar.map((one) => one.icon), ...contributes.yamlValidation.map(({ url }) => url), ...contributes.jsonValidation.map(({ url }) => url), ...steps().map(({ media }) => media.markdown)];
    await Promise.all(files.map((file) => access(join(root, file))));
    assert.equal(`**/${contributes.yamlValidation[0]!.fileMatch}`, TEMPLATE_GLOB);
  });
});
