/** What becomes of snapshots in a real VS Code: taken, run from, compared, named, moved about, removed, by the commands of their menus. */
import assert from 'node:assert/strict';
import { rm, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands, Items, Views } from '../../src/extension/ids.js';
import { snapshotAddress } from '../../src/extension/sandbox/address.js';
import { sandboxUri } from '../../src/extension/sandbox/fileSystem.js';
import type { Handle } from '../../src/extension/views/tree.js';
import type { RunRef, SandboxRef } from '../../src/extension/views/node.js';
import { sees } from '../support/sees.js';
import { answering } from './answers.js';
import { activated, inWorkspace, itemOf, showSidebar, until, workspaceFolder, write } from './api.js';

const TEMPLATE = 'name: kept\nsetup: [{run: "mkdir /srv/d && echo 0.25 > /srv/d/score && echo old > /srv/gone"}]\nepisode: {run: cat /srv/d/score, seeds: 2}\nreward: stdout\n';

describe('snapshots in the sidebar', function () {
  this.timeout(120_000);
  let api: TestApi;
  let sandbox: SandboxRef;
  let taken: string;
  const root = () => workspaceFolder().fsPath;
  const command = <T>(id: string, ...given: unknown[]) => vscode.commands.executeCommand<T>(id, ...given);

  /** A snapshot beneath the template, or beneath another top item, once it says so. */
  const snapshot = async (label: string | RegExp, description = /./, parent = 'kept'): Promise<Handle> => {
    const { templates } = api.trees;
    let seen: string[] = [];
    return until(
      `snapshot ${String(label)}, ${description}`,
      [templates.onDidChangeTreeData, (listener) => api.services.snapshots.onDidChange(listener)],
      async () => {
        const top = (await templates.getChildren()).find(({ node }) => node.label === parent);
        const beneath = top ? await templates.getChildren(top) : [];
        seen = beneath.map(({ node }) => `${node.label}: ${node.description ?? ''}`);
        return beneath.find(({ node }) => (typeof label === 'string' ? node.label === label : label.test(node.label)) && description.test(node.description ?? ''));
      },
      () => seen,
    );
  };
  const report = async (id: string) => (await api.services.snapshots.list()).find((known) => known.snapshot.id === id)?.snapshot;

  before(async () => {
    api = await activated();
    await write(inWorkspace('kept.rlenv.yaml'), TEMPLATE);
    await showSidebar();
    await itemOf(api.trees.templates, ({ label, description }) => label === 'kept' && /^not built/.test(description ?? ''), 'the template');
    sandbox = (await command<SandboxRef>(Commands.openSandbox, inWorkspace('kept.rlenv.yaml')))!;
    const { fs } = vscode.workspace;
    await fs.writeFile(sandboxUri(sandbox, '/srv/d/score'), new TextEncoder().encode('0.75\n'));
    await fs.writeFile(sandboxUri(sandbox, '/srv/fresh'), new TextEncoder().encode('new\n'));
    await fs.delete(sandboxUri(sandbox, '/srv/gone'));
  });
  after(async () => {
    await api.services.runner.request('sandbox/terminateAll', { root: root() });
    await rm(inWorkspace('kept.rlenv.yaml').fsPath);
  });

  it('are taken of a live one, of files or of memory where its provider has both, and stand under the template', async () => {
    const { sandboxes } = api.services;
    taken = (await answering([{ type: ' with a change ' }], () => command<string>(Commands.snapshotSandbox, sandbox))).result;
    const { node } = await snapshot('with a change');
    assert.equal(node.item, Items.childSnapshot);
    await command(`${Views.snapshots}.focus`);
    const listed = await itemOf(api.trees.snapshots, ({ label }) => label === 'with a change', 'the snapshot in the list of all');
    assert.match(listed.node.description!, /^kept {2}·  bubblewrap/);
    assert.match(api.trees.snapshots.view.description!, /^\d+, [\d.]+ [KMG]?B in all$/);

    // This machine's provider has files only; told that it had memory too, a person is asked, and what the provider then says is shown.
    const both = () => sandboxes.took(sandbox.root, { ...sandboxes.get(sandbox)!.sandbox, memorySnapshots: true });
    both();
    const files = await answering([{ pick: /Files/ }, { type: 'second' }], () => command<string>(Commands.snapshotSandbox, sandbox));
    assert.equal(files.asked[0]!.offered.length, 2);
    await snapshot('second');
    both();
    const memory = await answering([{ pick: /Memory/ }, { type: '' }, undefined], () => command(Commands.snapshotSandbox, sandbox));
    assert.match(memory.asked[2]!.text, /^Failed to snapshot kept-\w{4}: .*cannot snapshot memory/);
    both();
    await answering([undefined], () => command(Commands.snapshotSandbox, sandbox));
  });

  it('are what the episodes of a run start from, and say so in the run and its command line', async () => {
    const run = (await command<RunRef>(Commands.runSnapshot, await snapshot('with a change')));
    const { runs } = api.services;
    const done = await until('the run', [runs.onDidChangeRun], () => (runs.get(run)?.run.state === 'done' ? runs.get(run) : undefined), () => runs.get(run)?.run);
    assert.deepEqual([done.mean, done.finished, done.run.from, done.run.snapshot?.id], [0.75, 2, taken, taken]);
    await command(Commands.copyCliCommand, run);
    assert.ok((await vscode.env.clipboard.readText()).includes(` --snapshot ${taken} `));
    await sees(async () => (await report(taken))?.usedBy.map(({ id }) => id), [run.id]);
  });

  it('are compared with the one that they were made from, file by file, in the diff editor', async () => {
    const changes = await command<readonly { path: string; kind: string }[]>(Commands.compareSnapshot, await snapshot('with a change'));
    assert.deepEqual(changes.map(({ path, kind }) => `${kind} ${path}`), ['modified /srv/d/score', 'added /srv/fresh', 'removed /srv/gone']);
    const tab = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label }) => label.startsWith('with a change: changes to its parent'));
    await vscode.window.tabGroups.close(await until('the editor', [vscode.window.tabGroups.onDidChangeTabs], tab));
    const { parent } = (await report(taken))!;
    const text = async (id: string) => (await vscode.workspace.openTextDocument(vscode.Uri.from(snapshotAddress(id, '/srv/d/score')))).getText();
    assert.deepEqual([await text(parent!), await text(taken)], ['0.25\n', '0.75\n']);
    await assert.rejects(async () => vscode.workspace.fs.writeFile(vscode.Uri.from(snapshotAddress(taken, '/srv/fresh')), new Uint8Array()));
    // Nobody sees the sandboxes that were read from.
    assert.deepEqual((await api.services.sandboxes.list()).map((known) => known.sandbox.id), [sandbox.id]);

    const built = await answering([undefined], () => command(Commands.compareSnapshot, { node: { snapshot: { root: root(), id: parent, name: 'x' } } }));
    assert.match(built.asked[0]!.text, /was built, not made from another/);
  });

  it('are renamed, annotated, pinned, and tell from which they were made', async () => {
    await answering([{ type: 'renamed' }], async () => command(Commands.renameSnapshot, await snapshot('with a change')));
    await answering([{ type: 'for the record' }], async () => command(Commands.noteSnapshot, await snapshot('renamed')));
    await command(Commands.pinSnapshot, await snapshot('renamed'));
    const pinned = await snapshot('renamed', /pinned/);
    assert.equal(pinned.node.item, Items.pinnedChildSnapshot);
    assert.match(pinned.node.tooltip!(), /for the record[^]*made from \w+[^]*used by run #\d/);
    const { asked } = await answering([undefined], () => command(Commands.showLineage, pinned));
    assert.equal(asked[0]!.offered.length, 2);
    assert.match(asked[0]!.offered[1]!, /renamed$/);
  });

  it('go out into one file and come in again', async () => {
    const file = inWorkspace('moved.rlsnapshot');
    const { asked } = await answering([{ choose: [file] }], async () => command(Commands.exportSnapshot, await snapshot('renamed')));
    assert.ok(asked[0]!.offered[0]!.endsWith('/kept-renamed.rlsnapshot'));
    assert.ok((await stat(file.fsPath)).size > 100);
    await answering([{ choose: [file] }], () => command(Commands.importSnapshot));
    await snapshot('renamed', /./, 'Other Snapshots');
    await rm(file.fsPath);
  });

  it('are marked when their template has changed since', async () => {
    await write(inWorkspace('kept.rlenv.yaml'), TEMPLATE.replace('0.25', '0.5'));
    await snapshot('renamed', /stale: setup changed/);
  });

  it('are pruned, but those that are pinned or in use; and deleted, which says which runs used it', async () => {
    const { snapshots } = api.services;
    const ids = async () => (await snapshots.list()).map((known) => known.snapshot).filter(({ template }) => template === 'kept');
    const { parent } = (await report(taken))!;
    assert.equal((await ids()).length, 4);
    await answering([{ pick: 'All that are not pinned' }, undefined], () => command(Commands.pruneSnapshots));
    assert.equal((await ids()).length, 4, 'a question that is not answered removes nothing');
    const pruned = await answering([{ pick: 'All that are not pinned' }, { press: 'Prune' }], () => command(Commands.pruneSnapshots));
    assert.match(pruned.asked[1]!.text, /^Delete \d+ snapshots, /);
    const stay = await until('what stays', [(listener) => snapshots.onDidChange(listener)], async () => ((await ids()).length === 2 ? ids() : undefined), () => snapshots.known().map((known) => known.snapshot.id));
    assert.deepEqual(stay.map(({ id }) => id).sort(), [taken, parent!].sort());

    const used = await answering([{ press: 'Delete' }, undefined], () => command(Commands.deleteSnapshot, { node: { snapshot: { root: root(), id: parent, name: 'x' } } }));
    assert.match(used.asked[1]!.text, /^Failed to delete snapshot \w+: .*in use/);
    const gone = await answering([{ press: 'Delete' }], async () => command(Commands.deleteSnapshot, await snapshot('renamed')));
    assert.match(gone.asked[0]!.text, /^Delete snapshot renamed of kept\?$/);
    await until('it is gone', [(listener) => snapshots.onDidChange(listener)], async () => ((await report(taken)) ? undefined : true));
  });
});
