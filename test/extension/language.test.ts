/** Problems, completion and hover of templates in a real VS Code. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { activated, inWorkspace, until, write } from './api.js';

describe('language features', () => {
  const uri = () => inWorkspace('typed.rlenv.yaml');
  let editor: vscode.TextEditor;

  before(async () => {
    await activated();
    await write(uri(), 'name: typed\nepisode:\n  run: echo 1\n');
    editor = await vscode.window.showTextDocument(uri());
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.workspace.fs.delete(uri());
  });

  const problems = () => vscode.languages.getDiagnostics(uri());
  const changed = (listener: () => unknown) => vscode.languages.onDidChangeDiagnostics(listener);
  const insert = (line: number, text: string) => editor.edit((edit) => edit.insert(new vscode.Position(line, 0), text));

  it('show a problem as one types, where it is, and take it away when it is mended', async () => {
    await insert(3, 'rewrad: stdout\n');
    const [problem] = await until('a problem', [changed], () => (problems().length > 0 ? problems() : undefined));
    assert.equal(editor.document.isDirty, true);
    assert.match(problem!.message, /rewrad/);
    assert.match(problem!.message, /reward/);
    assert.equal(problem!.source, 'RL Sandboxes');
    assert.equal(problem!.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(problem!.range.start.line, 3);
    await editor.edit((edit) => edit.replace(new vscode.Range(3, 0, 3, 6), 'reward'));
    await until('no problem', [changed], () => (problems().length === 0 ? true : undefined), problems);
  });

  it('show what a saved template names and is not there, also while one types elsewhere', async () => {
    await insert(4, 'files:\n  - {from: gone.txt, to: /gone.txt}\n');
    await editor.document.save();
    const missing = () => problems().find(({ message }) => message.includes('gone.txt'));
    await until('a missing file', [changed], missing, problems);
    await insert(0, '# one line more\n');
    await until('the same problem one line below', [changed], () => (missing()?.range.start.line === 6 ? true : undefined), problems);
    await editor.edit((edit) => edit.delete(new vscode.Range(5, 0, 7, 0)));
    await until('no problem', [changed], () => (problems().length === 0 ? true : undefined), problems);
  });

  it('complete keys that are not there yet, and values', async () => {
    const { document } = editor;
    const complete = async (position: vscode.Position) => {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>('vscode.executeCompletionItemProvider', uri(), position);
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    const keys = await complete(new vscode.Position(document.lineCount - 1, 0));
    assert.ok(keys.includes('resources'), keys.join());
    assert.ok(!keys.includes('name'), 'what is there is not offered again');
    const line = document.lineCount - 1;
    await editor.edit((edit) => edit.insert(new vscode.Position(line, 0), 'network: '));
    assert.deepEqual((await complete(new vscode.Position(line, 9))).filter((label) => ['none', 'full'].includes(label)).sort(), ['full', 'none']);
    await editor.edit((edit) => edit.delete(new vscode.Range(line, 0, line, 9)));
  });

  it('explain a key', async () => {
    const line = editor.document.getText().split('\n').findIndex((text) => text.startsWith('episode'));
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri(), new vscode.Position(line, 2));
    const text = hovers.flatMap(({ contents }) => contents.map((content) => (typeof content === 'string' ? content : content.value))).join('\n');
    assert.match(text, /What one episode does/);
  });
});
