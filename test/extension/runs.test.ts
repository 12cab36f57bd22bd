/** Build, run, look, cancel: through the commands that the buttons call, on the real engine. */
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands, Items } from '../../src/extension/ids.js';
import type { RunRef } from '../../src/extension/views/node.js';
import { sees } from '../support/sees.js';
import { answering } from './answers.js';
import { activated, inWorkspace, itemOf, nodesOf, showSidebar, until, workspaceFolder, write } from './api.js';

const FEW = `name: few
setup:
  - run: echo ready > /ready
episode:
  run: |
    test -f /ready
    if [ "$RL_SEED" = 3 ]; then echo no number; else echo "0.$RL_SEED"; fi
  seeds: 6
reward: stdout
`;
const SLOW = 'name: slow\nepisode:\n  run: sleep 60; echo 1\n  seeds: 8\n';
const INVALID = 'name: broken\nepisode:\n  run: echo 1\nrewrad: stdout\n';

describe('the loop in VS Code', function () {
  this.timeout(120_000);
  let api: TestApi;
  let run: RunRef;

  before(async () => {
    await write(inWorkspace('few.rlenv.yaml'), FEW);
    await write(inWorkspace('slow.rlenv.yaml'), SLOW);
    await write(inWorkspace('broken.rlenv.yaml'), INVALID);
    api = await activated();
    await showSidebar();
  });

  const template = (name: string, description: RegExp) => itemOf(api.trees.templates, (node) => node.label === name && description.test(node.description ?? ''), `template ${name}, ${description}`);
  const summary = (ref: RunRef) => api.services.runs.get(ref)!;
  const ended = (ref: RunRef, state: string) =>
    until(`run ${state}`, [api.services.runs.onDidChangeRun], () => (api.services.runs.get(ref)?.run.state === state ? summary(ref) : undefined), () => api.services.runs.get(ref)?.run);

  it('lists every template with its state, and says what is wrong with an invalid one', async () => {
    await template('hello', /^not built/);
    const broken = await template('broken', /^line 4: .*rewrad/);
    assert.equal(broken.node.item, Items.invalidTemplate);
    const { command, arguments: args = [] } = api.trees.templates.getTreeItem(broken).command!;
    await vscode.commands.executeCommand(command, ...(args as unknown[]));
    const { activeTextEditor } = vscode.window;
    assert.equal(activeTextEditor?.document.fileName, inWorkspace('broken.rlenv.yaml').fsPath);
    assert.equal(activeTextEditor.selection.active.line, 3);
  });

  it('gives every item a text for a screen reader, and a tooltip only when asked', async () => {
    // Beside the templates there may be the snapshots that belong to none.
    for (const handle of (await api.trees.templates.getChildren()).filter(({ id }) => !id.startsWith('other-snapshots'))) {
      const item = api.trees.templates.getTreeItem(handle);
      assert.ok(item.accessibilityInformation?.label, item.id);
      assert.equal(item.tooltip, undefined);
      const { tooltip } = api.trees.templates.resolveTreeItem(item, handle);
      assert.ok(typeof tooltip === 'string' && tooltip.includes('.rlenv.yaml'), item.id);
    }
  });

  it('builds, and shows the snapshot beneath the template', async () => {
    const few = await template('few', /^not built/);
    const result = await vscode.commands.executeCommand<{ built: boolean; snapshot: { id: string } }>(Commands.build, few);
    assert.equal(result.built, true);
    const built = await template('few', /^built/);
    const [snapshot] = await nodesOf(api.trees.templates, built);
    assert.equal(snapshot?.item, Items.snapshot);
    assert.match(snapshot.description!, /^current/);
    const again = await vscode.commands.executeCommand<{ built: boolean }>(Commands.build, inWorkspace('few.rlenv.yaml'));
    assert.equal(again.built, false);
  });

  it('runs every seed to a mean, which the tree shows', async () => {
    run = (await vscode.commands.executeCommand<RunRef>(Commands.run, inWorkspace('few.rlenv.yaml')));
    const { finished, mean, unscored } = await ended(run, 'done');
    assert.deepEqual([finished, unscored], [6, 1]);
    assert.ok(Math.abs(mean! - (0 + 0.1 + 0.2 + 0.4 + 0.5) / 5) < 1e-9);
    const item = await itemOf(api.trees.runs, (node) => node.run?.id === run.id && /^6\/6 {3}0\.240 ± /.test(node.description ?? ''), 'the mean of the run');
    assert.equal(item.node.item, Items.doneRunWithFailures);
    const labels = (await nodesOf(api.trees.runs, item)).map(({ label }) => label);
    assert.equal(labels[0], 'best 0.500');
    assert.equal(labels.at(-1), 'All 6…');
    assert.equal(labels.filter((label) => label.startsWith('1 × ')).length, 1, labels.join());
    await template('few', /mean 0\.240/);
  });

  it('opens the run view by itself only because someone ran it, and closes with its tab', async () => {
    const tab = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.includes('rlSandboxes.runView'));
    const opened = await until('the run view', [vscode.window.tabGroups.onDidChangeTabs], tab);
    assert.match(opened.label, /^few #\d+$/);
    await sees(() => api.services.runViews.isVisible(run), true);
    await vscode.window.tabGroups.close(opened);
    await sees(() => api.services.runViews.isVisible(run), false);
    await vscode.commands.executeCommand(Commands.openRun, run);
    await until('the run view again', [vscode.window.tabGroups.onDidChangeTabs], () => (api.services.runViews.isVisible(run) ? true : undefined));
  });

  it('shows an output as a read-only document without the escapes of a terminal', async () => {
    const uri = vscode.Uri.from({ scheme: 'rl-sandboxes', path: '/x/stdout.log', query: JSON.stringify({ ...run, episode: 4, what: 'stdout' }) });
    const document = await vscode.workspace.openTextDocument(uri);
    assert.equal(document.getText(), '0.4\n');
  });

  it('copies the command line that does the same', async () => {
    await vscode.commands.executeCommand(Commands.copyCliCommand, run);
    const text = await vscode.env.clipboard.readText();
    assert.match(text, /^node \S+cli\.mjs run few\.rlenv\.yaml --seeds 0\.\.5 --samples 1 /);
  });

  it('reruns the failed episodes only, and compares both runs and two traces', async () => {
    const again = await vscode.commands.executeCommand<RunRef>(Commands.rerunFailed, run);
    assert.notEqual(again.id, run.id);
    assert.equal((await ended(again, 'done')).run.total, 1);

    // The page itself asks for the comparison, and its panel is called by what came of it.
    const tab = (viewType: string, label: RegExp) =>
      until(`a tab ${label}`, [vscode.window.tabGroups.onDidChangeTabs], () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ input, label: shown }) => input instanceof vscode.TabInputWebview && input.viewType.includes(viewType) && label.test(shown)), () =>
        vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label: shown }) => shown)));
    const items = await Promise.all([again, run].map(({ id }) => itemOf(api.trees.runs, (node) => node.run?.id === id, `run ${id}`)));
    await vscode.commands.executeCommand(Commands.compareRuns, items[0], items);
    await tab('rlSandboxes.compareView', /^few #\d+ ↔ #\d+$/);
    await vscode.commands.executeCommand(Commands.compareTraces, { ...run, episode: 2 }, { ...run, episode: 4 });
    const traces = await tab('rlSandboxes.traceDiff', /episode 2.*episode 4/);
    await vscode.window.tabGroups.close(traces);
  });

  it('shows that a template is stale when its set-up changes', async () => {
    await write(inWorkspace('few.rlenv.yaml'), FEW.replace('echo ready', 'echo steady'));
    await template('few', /^stale: setup changed/);
  });

  it('cancels: nothing is left, what is finished is kept, and resuming is offered', async () => {
    const slow = await vscode.commands.executeCommand<RunRef>(Commands.run, inWorkspace('slow.rlenv.yaml'));
    await until('episodes that run', [api.services.runs.onDidChangeRun], () => ((api.services.runs.get(slow)?.running ?? 0) > 0 ? true : undefined), () => api.services.runs.get(slow));
    const active = await itemOf(api.trees.runs, (node) => node.run?.id === slow.id && node.item === Items.activeRun, 'the run as active');
    assert.match(active.node.description!, /^running 0\/8/);
    await until('a badge', [api.services.runs.onDidChangeRun], () => (api.trees.runs.view.badge ? true : undefined));
    await sees(async () => (await api.services.sandboxes.list()).length > 0, true);

    await vscode.commands.executeCommand(Commands.cancelRun, active);
    await ended(slow, 'cancelled');
    await sees(() => api.services.sandboxes.list(), []);
    await sees(() => api.trees.runs.view.badge, undefined);
    await itemOf(api.trees.runs, (node) => node.run?.id === slow.id && node.item!.startsWith(Items.incompleteRun), 'the run as incomplete');
  });

  it('says nothing and does nothing for an item that is gone', async () => {
    const gone = { id: 'run:x', node: { id: 'run:x', label: 'x', spoken: 'x', run: { root: workspaceFolder().fsPath, id: 'gone-1' } } };
    assert.equal(await vscode.commands.executeCommand(Commands.cancelRun, gone), undefined);
    assert.equal(await vscode.commands.executeCommand(Commands.copyCliCommand, gone), undefined);
    assert.deepEqual(await api.trees.runs.getChildren(gone), []);
  });

  it('acts on nothing else in place of an item that VS Code has lost while it loaded a list again', async () => {
    const before = api.services.runs.known().length;
    await vscode.window.showTextDocument(inWorkspace('few.rlenv.yaml'));
    const { asked } = await answering([{ press: 'Show Log' }], () => vscode.commands.executeCommand(Commands.run, undefined, null));
    assert.match(asked[0]!.text, /the list was being drawn again; try once more/);
    assert.equal(api.services.runs.known().length, before);
  });

  it('keeps everything in the folder of the workspace', async () => {
    const folder = join(workspaceFolder().fsPath, '.rlenv');
    assert.equal(await readFile(join(folder, '.gitignore'), 'utf8'), '*\n');
    assert.ok((await stat(join(folder, 'runs', run.id, 'episodes.jsonl'))).size > 0);
  });
});
