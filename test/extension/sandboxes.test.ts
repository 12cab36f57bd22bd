/** A live sandbox in a real VS Code: its files as a file system, its terminals, what runs in it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands, SandboxScheme } from '../../src/extension/ids.js';
import { sandboxUri } from '../../src/extension/sandbox/fileSystem.js';
import type { SandboxRef } from '../../src/extension/views/node.js';
import { sees } from '../support/sees.js';
import { activated, inWorkspace, itemOf, showSidebar, until, workspaceFolder } from './api.js';

describe('a live sandbox', function () {
  this.timeout(120_000);
  let api: TestApi;
  let ref: SandboxRef;
  const { fs } = vscode.workspace;
  const at = (path: string) => sandboxUri(ref, path);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const code = (wanted: string) => (error: unknown) => error instanceof vscode.FileSystemError && error.code === wanted;

  const exec = async (script: string): Promise<{ code: number; text: string }> => {
    const stream = randomUUID();
    let text = '';
    const claim = api.services.streams.claim(ref.root, stream, (data) => (text += new TextDecoder().decode(data)));
    const { code } = await api.services.runner.request('sandbox/exec', { root: ref.root, id: ref.id, argv: ['sh', '-c', script], stream });
    claim.dispose();
    return { code, text };
  };

  before(async () => {
    api = await activated();
    await showSidebar();
    const opened = await vscode.commands.executeCommand<SandboxRef | undefined>(Commands.openSandbox, { root: workspaceFolder().fsPath, file: inWorkspace('hello.rlenv.yaml').fsPath });
    assert.ok(opened, 'a sandbox');
    ref = opened;
  });

  after(async () => {
    await api.services.runner.request('sandbox/terminateAll', { root: workspaceFolder().fsPath });
  });

  it('is in the view at once, with what it uses', async () => {
    const handle = await itemOf(api.trees.sandboxes, ({ sandbox, description }) => sandbox?.id === ref.id && /\d (B|KB|MB)/.test(description ?? ''), 'the sandbox');
    const beneath = await api.trees.sandboxes.getChildren(handle);
    assert.deepEqual(beneath.map(({ node }) => node.label), ['Files']);
    const files = await api.trees.sandboxes.getChildren(beneath[0]);
    assert.ok(files.some(({ node }) => node.file?.path === '/task.txt'));
  });

  it('has files that are read, written over and keep their mode', async () => {
    assert.equal(Buffer.from(await fs.readFile(at('/task.txt'))).toString(), 'Print a number between 0 and 1.\n');
    await exec('printf "#!/bin/sh\\n" > /x.sh && chmod 755 /x.sh');
    await fs.writeFile(at('/x.sh'), bytes('#!/bin/sh\necho ok\n'));
    assert.deepEqual(await exec('stat -c %a /x.sh && /x.sh'), { code: 0, text: '755\nok\n' });
    assert.equal((await fs.stat(at('/x.sh'))).type, vscode.FileType.File);
  });

  it('keeps bytes as they are, of a file of several pieces', async () => {
    const content = new Uint8Array(9_000_001).map((_, index) => (index * 7 + (index >> 8)) & 255);
    await fs.writeFile(at('/data.bin'), content);
    assert.deepEqual(Buffer.compare(await fs.readFile(at('/data.bin')), content), 0);
    assert.equal((await exec('wc -c < /data.bin')).text.trim(), '9000001');
  });

  for (const name of ['with space', 'ünï-код-漢字-😀', 'line\nbreak', "quote'\"$(x)`", '%41%2f', '#a?b', '-rf', 'back\\slash']) {
    it(`takes the name ${JSON.stringify(name)}`, async () => {
      const folder = at(`/names/${name}`);
      const file = vscode.Uri.joinPath(folder, name);
      await fs.createDirectory(folder);
      await fs.writeFile(file, bytes(name));
      assert.equal(Buffer.from(await fs.readFile(vscode.Uri.parse(file.toString(), true))).toString(), name);
      assert.deepEqual(await fs.readDirectory(folder), [[name, vscode.FileType.File]]);
      await fs.rename(file, vscode.Uri.joinPath(folder, `${name}2`));
      assert.deepEqual((await fs.readDirectory(folder)).map(([found]) => found), [`${name}2`]);
      await fs.delete(folder, { recursive: true });
      await assert.rejects(async () => fs.stat(folder), code('FileNotFound'));
    });
  }

  it('says what is wrong in the words of a file system', async () => {
    await assert.rejects(async () => fs.readFile(at('/nothing')), code('FileNotFound'));
    await assert.rejects(async () => fs.readDirectory(at('/nothing')), code('FileNotFound'));
    await assert.rejects(async () => fs.delete(at('/nothing')), code('FileNotFound'));
    await assert.rejects(async () => fs.readFile(at('/tmp')), code('FileIsADirectory'));
    await fs.writeFile(at('/a'), bytes('a'));
    await fs.writeFile(at('/b'), bytes('b'));
    await assert.rejects(async () => fs.rename(at('/a'), at('/b')), code('FileExists'));
    await fs.rename(at('/a'), at('/b'), { overwrite: true });
    assert.equal(Buffer.from(await fs.readFile(at('/b'))).toString(), 'a');
    await assert.rejects(async () => fs.readFile(at('/b').with({ authority: 'bubblewrap+bw-gone' })), code('Unavailable'));
    await exec('mkfifo /pipe');
    await assert.rejects(async () => fs.readFile(at('/pipe')), /not a file/);
  });

  it('is written to by an editor, and shows there what it changes itself', async () => {
    await fs.writeFile(at('/notes.txt'), bytes('one\n'));
    const editor = await vscode.window.showTextDocument(at('/notes.txt'));
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'two\n'));
    assert.ok(await editor.document.save());
    assert.equal((await exec('cat /notes.txt')).text, 'one\ntwo\n');
    await exec('echo three >> /notes.txt');
    await until('the editor shows it', [vscode.workspace.onDidChangeTextDocument], () => (editor.document.getText() === 'one\ntwo\nthree\n' ? true : undefined), () => editor.document.getText());
  });

  it('shows a file as its snapshot has it, and nobody can write there', async () => {
    await fs.writeFile(at('/task.txt'), bytes('changed\n'));
    const original = sandboxUri(ref, '/task.txt', { original: true });
    assert.equal(Buffer.from(await fs.readFile(original)).toString(), 'Print a number between 0 and 1.\n');
    await assert.rejects(async () => fs.writeFile(original, bytes('x')));
    const part = sandboxUri(ref, '/task.txt', { offset: 2, length: 3 });
    assert.equal(Buffer.from(await fs.readFile(part)).toString(), 'ang');
    const changes = (await vscode.commands.executeCommand<{ path: string; kind: string }[]>(Commands.compareSandbox, ref)).map(({ path, kind }) => `${kind} ${path}`);
    assert.ok(changes.includes('modified /task.txt'), changes.join());
    assert.ok(changes.includes('added /notes.txt'), changes.join());
  });

  it('takes files of this machine', async () => {
    await fs.copy(inWorkspace('hello.rlenv.yaml'), at('/copied.yaml'));
    assert.match((await exec('head -c 7 /copied.yaml')).text, /^# Hello/);
    await api.services.runner.request('files/upload', { root: ref.root, id: ref.id, from: [inWorkspace('hello.rlenv.yaml').fsPath], to: '/up' });
    assert.equal((await exec('ls /up')).text, 'hello.rlenv.yaml\n');
  });

  it('has terminals that end with the exit code of their shell, and stand beneath it while they are open', async () => {
    const { terminals } = api.services;
    const terminal = await vscode.commands.executeCommand<vscode.Terminal>(Commands.openSandboxTerminal, ref);
    await vscode.commands.executeCommand(Commands.openSandboxTerminal, ref);
    await sees(() => terminals.of(ref).map(({ name }) => name.replace(/-\w{4}/, '')), ['hello', 'hello (2)']);
    const closed = new Promise<vscode.Terminal>((resolve) => {
      const subscription = vscode.window.onDidCloseTerminal((one) => one === terminal && (subscription.dispose(), resolve(one)));
    });
    terminal.sendText('exit 7');
    assert.equal((await closed).exitStatus?.code, 7);
    await sees(() => terminals.of(ref).length, 1);
  });

  it('is ended, and then its files are out of reach and its terminals say so', async () => {
    const { sandboxes, runner } = api.services;
    await runner.request('sandbox/terminate', ref);
    await until('the sandbox is gone', [(listener) => sandboxes.onDidChange(listener)], () => (sandboxes.get(ref) ? undefined : true));
    await assert.rejects(async () => fs.readFile(vscode.Uri.from({ scheme: SandboxScheme, authority: `${ref.provider}+${ref.id}`, path: '/task.txt' })), code('Unavailable'));
  });
});
