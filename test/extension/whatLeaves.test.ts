/** What leaves a run: its episodes as files, and what episodes left, saved and compared. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands } from '../../src/extension/ids.js';
import { compareArtifact, saveArtifacts } from '../../src/extension/panels/artifacts.js';
import type { RunRef } from '../../src/extension/views/node.js';
import { answering } from './answers.js';
import { activated, inWorkspace, showSidebar, until, write } from './api.js';

const LEAVES = 'name: leaves\nepisode:\n  run: mkdir -p /out; ln -s /etc/passwd /out/link; echo "of $RL_SEED" | tee /out/note.txt; echo 0.$RL_SEED\n  seeds: 3\nartifacts: [/out/**]\n';

describe('what leaves a run', function () {
  this.timeout(120_000);
  let api: TestApi;
  let run: RunRef;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exports-'));
    await write(inWorkspace('leaves.rlenv.yaml'), LEAVES);
    api = await activated();
    await showSidebar();
    run = await vscode.commands.executeCommand<RunRef>(Commands.run, inWorkspace('leaves.rlenv.yaml'));
    await until('the run', [api.services.runs.onDidChangeRun], () => (api.services.runs.get(run)?.run.state === 'done' ? true : undefined), () => api.services.runs.get(run)?.run);
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(inWorkspace('leaves.rlenv.yaml'));
    await rm(folder, { recursive: true, force: true });
  });

  const exportOf = (selection: object) => () => vscode.commands.executeCommand(Commands.exportRun, run, selection);
  const file = (name: string) => vscode.Uri.file(join(folder, name));

  it('is the episodes that were selected, or that a filter leaves, in a file of a person\'s choice', async () => {
    const { asked } = await answering([{ pick: 'JSON Lines' }, { choose: [file('some.jsonl')] }, undefined], exportOf({ episodes: [0, 2] }));
    assert.match(asked.at(-1)!.text, /^2 episodes exported\.$/);
    const lines = (await readFile(join(folder, 'some.jsonl'), 'utf8')).trimEnd().split('\n');
    assert.deepEqual(lines.map((line) => (JSON.parse(line) as { episode: number }).episode).sort(), [0, 2]);
    await answering([{ pick: 'Comma-separated values' }, { choose: [file('one.csv')] }, undefined], exportOf({ where: 'seed:1' }));
    assert.equal((await readFile(join(folder, 'one.csv'), 'utf8')).trimEnd().split('\n').length, 2);
  });

  it('is a folder that was not there, and nothing after Escape', async () => {
    await answering([{ pick: 'As recorded' }, { choose: [vscode.Uri.file(folder)] }, undefined], exportOf({}));
    assert.ok((await readdir(folder)).includes(`${run.id}-native`));
    const before = await readdir(folder);
    await answering([undefined], exportOf({}));
    await answering([{ pick: 'Chat messages' }, undefined], exportOf({}));
    assert.deepEqual(await readdir(folder), before);
  });

  it('is what an episode left, all at once and without links, each time in a folder of its own', async () => {
    const place = join(folder, 'saved');
    await mkdir(place);
    for (let time = 0; time < 2; time++) await answering([{ choose: [vscode.Uri.file(place)] }, undefined], () => saveArtifacts(run, 1));
    assert.deepEqual((await readdir(place)).sort(), [`${run.id}-episode-1`, `${run.id}-episode-1-2`]);
    const files = (await readdir(join(place, `${run.id}-episode-1-2`), { recursive: true, withFileTypes: true })).filter((each) => !each.isDirectory());
    assert.deepEqual(files.map(({ name }) => name), ['note.txt']);
    assert.equal(await readFile(join(files[0]!.parentPath, 'note.txt'), 'utf8'), 'of 1\n');
  });

  it('is compared with what another episode left, in the editor for differences', async () => {
    const { artifacts } = await api.services.runner.request('run/episode', { ...run, episode: 1 });
    const name = artifacts.find(({ path }) => path.endsWith('note.txt'))!.path;
    await answering([{ pick: /2/ }], () => compareArtifact(api.services.runner, run, 1, name));
    const tab = await until('the differences', [vscode.window.tabGroups.onDidChangeTabs], () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ input, label }) => input instanceof vscode.TabInputTextDiff && /^note\.txt: episode 1 ↔ episode \d$/.test(label)));
    const { original, modified } = tab.input as vscode.TabInputTextDiff;
    const texts = await Promise.all([original, modified].map(async (uri) => (await vscode.workspace.openTextDocument(uri)).getText()));
    assert.deepEqual([texts[0], texts[0] !== texts[1]], ['of 1\n', true]);
    await vscode.window.tabGroups.close(tab);
  });
});
