/** What the extension is in a real VS Code before anyone uses it. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Commands, InternalCommands } from '../../src/extension/ids.js';
import { sees } from '../support/sees.js';
import { activated, inWorkspace, until } from './api.js';

describe('activation', () => {
  it('happens without starting the engine', async () => {
    const { services } = await activated();
    assert.equal(await services.runner.pid(), undefined);
  });

  it('loads little, and the language features only with a template', async () => {
    const { services } = await activated();
    const { extensionPath } = services.context;
    assert.ok((await stat(join(extensionPath, 'dist', 'extension.js'))).size < 300_000);
    const loaded = () => Object.keys(require.cache).some((file) => file.startsWith(extensionPath) && file.endsWith('language.js'));
    assert.equal(loaded(), false);
    const opened = until('the language features', [vscode.workspace.onDidOpenTextDocument, vscode.languages.onDidChangeDiagnostics], () => loaded() || undefined);
    await vscode.workspace.openTextDocument(inWorkspace('hello.rlenv.yaml'));
    await opened;
  });

  it('registers every command that it contributes', async () => {
    await activated();
    const there = new Set(await vscode.commands.getCommands(false));
    for (const id of [...Object.values(Commands), ...Object.values(InternalCommands)]) assert.ok(there.has(id), id);
  });

  it('offers Run and Build above a template, and nothing above other YAML', async () => {
    await activated();
    const lenses = async (uri: vscode.Uri) => vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);
    const template = inWorkspace('hello.rlenv.yaml');
    await vscode.window.showTextDocument(template);
    await sees(async () => (await lenses(template)).map(({ command }) => command?.command).slice(0, 2), [Commands.run, Commands.build]);
    const other = inWorkspace('other.yaml');
    await vscode.workspace.fs.writeFile(other, new TextEncoder().encode('name: x\n'));
    await vscode.window.showTextDocument(other);
    assert.deepEqual(await lenses(other), []);
    await vscode.workspace.fs.delete(other);
  });

  it('leaves templates in the language that they are written in', async () => {
    const document = await vscode.workspace.openTextDocument(inWorkspace('hello.rlenv.yaml'));
    assert.equal(document.languageId, 'yaml');
  });
});
