/** The engine's process beneath the extension. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands } from '../../src/extension/ids.js';
import { sees } from '../support/sees.js';
import { activated, itemOf, showSidebar } from './api.js';

describe('the engine beneath VS Code', () => {
  let api: TestApi;
  before(async () => {
    api = await activated();
    await showSidebar();
    await api.services.runs.list();
  });

  it('is a process of its own', async () => {
    const pid = await api.services.runner.pid();
    assert.ok(pid);
    assert.notEqual(pid, process.pid);
  });

  it('is started again once when it is killed, and the views go on', async () => {
    const { runner } = api.services;
    const before = (await runner.pid())!;
    const restarted = new Promise<void>((resolve) => void runner.onStarted(resolve));
    process.kill(before, 'SIGKILL');
    await restarted;
    assert.notEqual(await runner.pid(), before);
    await vscode.commands.executeCommand(Commands.refresh);
    await itemOf(api.trees.templates, ({ label, description }) => label === 'hello' && description !== 'checking…', 'hello');
  });

  it('can be restarted by hand', async () => {
    const { runner } = api.services;
    const before = await runner.pid();
    await vscode.commands.executeCommand(Commands.restartEngine);
    const after = await runner.pid();
    assert.ok(after);
    assert.notEqual(after, before);
    const alive = () => {
      try {
        return process.kill(before!, 0);
      } catch {
        return false;
      }
    };
    await sees(alive, false);
  });

  it('describes itself for whoever helps', async () => {
    await vscode.commands.executeCommand(Commands.copyDiagnostics);
    const text = await vscode.env.clipboard.readText();
    for (const part of [`VS Code ${vscode.version}`, 'Engine ', 'bubblewrap: ', 'Docker: ']) assert.ok(text.includes(part), `${part} in ${text}`);
  });
});
