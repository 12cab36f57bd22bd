/** Live sandboxes in a real VS Code by the commands of their menus: services, ports, code, files in and out, how long they stay, and their end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import { Commands, InternalCommands, Items } from '../../src/extension/ids.js';
import { sandboxUri } from '../../src/extension/sandbox/fileSystem.js';
import { UploadByDrop } from '../../src/extension/sandbox/uploadByDrop.js';
import type { FileRef, Node, SandboxRef } from '../../src/extension/views/node.js';
import type { Handle } from '../../src/extension/views/tree.js';
import { answering } from './answers.js';
import { activated, inWorkspace, itemOf, showSidebar, until, workspaceFolder, write } from './api.js';

const PORT = 8791;
const SERVED = `name: served
setup: [{run: "mkdir /srv/site && echo hello from inside > /srv/site/page"}]
services:
  - name: web
    run: echo begins; cd /srv/site && exec python3 -u -m http.server ${PORT} --bind 127.0.0.1
    ready: {http: "http://localhost:${PORT}/page"}
episode: {run: echo 1}
reward: stdout
`;

describe('a live sandbox by its menus', function () {
  this.timeout(120_000);
  let api: TestApi;
  let ref: SandboxRef;
  const root = () => workspaceFolder().fsPath;
  const command = <T>(id: string, ...given: unknown[]) => vscode.commands.executeCommand<T>(id, ...given);
  const live = () => api.services.sandboxes;
  const sandboxesChange = (listener: () => unknown) => live().onDidChange(listener);
  const at = (path: string) => sandboxUri(ref, path);

  /** An item beneath the sandbox, once there is one that fits. */
  const beneath = async (fits: (node: Node) => boolean, what: string): Promise<Handle> => {
    const { sandboxes } = api.trees;
    let seen: string[] = [];
    return until(
      what,
      [sandboxes.onDidChangeTreeData, sandboxesChange],
      async () => {
        const top = (await sandboxes.getChildren()).find(({ node }) => node.sandbox?.id === ref.id);
        const items = top ? await sandboxes.getChildren(top) : [];
        seen = items.map(({ node }) => `${node.label}: ${node.description ?? ''}`);
        return items.find(({ node }) => fits(node));
      },
      () => seen,
    );
  };
  /** What an output channel shows, once it shows that. */
  const channel = (text: RegExp) => {
    const shown = () => vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'output').map((document) => document.getText());
    return until(`output ${text}`, [vscode.workspace.onDidChangeTextDocument, vscode.workspace.onDidOpenTextDocument], () => shown().find((all) => text.test(all)), () => shown().map((all) => all.slice(-400)));
  };

  before(async () => {
    api = await activated();
    await write(inWorkspace('served.rlenv.yaml'), SERVED);
    await showSidebar();
    ref = (await command<SandboxRef>(Commands.openSandbox, inWorkspace('served.rlenv.yaml')))!;
  });
  after(async () => {
    await api.services.runner.request('sandbox/terminateAll', { root: root() });
    for (const name of ['served.rlenv.yaml', 'downloads']) await rm(inWorkspace(name).fsPath, { recursive: true, force: true });
  });

  it('has the services of its template beneath it, ready, and shows what they write', async () => {
    const service = await beneath(({ item }) => item === Items.service, 'the service');
    assert.equal(service.node.label, 'web');
    assert.match(service.node.description!, /^ready after \d/);
    const { command: id, arguments: args = [] } = api.trees.sandboxes.getTreeItem(service).command!;
    assert.equal(id, Commands.showSandboxLogs);
    await command(id, ...(args as unknown[]));
    await channel(/begins\n[^]*GET \/page/);
  });

  it('lists the ports that are listened on, leads this machine to one, and opens it where the window is', async () => {
    const port = await beneath(({ item, label }) => item === Items.port && label.endsWith(String(PORT)), 'the port');
    await command(Commands.copyPortAddress, port);
    const address = await vscode.env.clipboard.readText();
    const forwarded = await beneath(({ item }) => item === Items.forwardedPort, 'the port as one that is forwarded');
    const local = /localhost:(\d+)/.exec(forwarded.node.description!)![1];
    assert.equal(await (await fetch(`http://127.0.0.1:${local}/page`)).text(), 'hello from inside\n');

    const { openExternal } = vscode.env;
    const opened: string[] = [];
    Object.assign(vscode.env, { openExternal: (uri: vscode.Uri) => Promise.resolve(opened.push(uri.toString()) > 0) });
    await command(Commands.openPort, forwarded);
    Object.assign(vscode.env, { openExternal });
    assert.deepEqual(opened, [address], 'by asExternalUri, as the address that was copied');

    await command(Commands.stopForwarding, forwarded);
    await beneath(({ item }) => item === Items.port, 'the port as one that is not forwarded');
    await assert.rejects(fetch(`http://127.0.0.1:${local}/page`));
  });

  it('runs the selected code, of the language that it is in, and tells its end', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'shellscript', content: 'false\n  if true; then\n    echo "from $(cat /srv/site/page)"; exit 3\n  fi\nfalse\n' });
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(1, 2, 3, 4);
    assert.equal(await command<number>(Commands.runSelectionInSandbox), 3);
    await channel(/from hello from inside\n[^]*\[exit code 3, /);
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    assert.equal(await command<number>(Commands.runSelectionInSandbox), 1, 'with nothing selected the line of the cursor');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('takes files that are dropped on a folder, and gives files to a folder of this machine', async () => {
    const folder: FileRef = { ...ref, path: '/srv/site', folder: true, size: 0 };
    const drop = new vscode.DataTransfer();
    drop.set('text/uri-list', new vscode.DataTransferItem(`${inWorkspace('served.rlenv.yaml').toString()}\r\n${inWorkspace('sales').toString()}`));
    await new UploadByDrop(api.services).handleDrop({ id: 'x', node: { id: 'x', label: 'site', spoken: 'site', file: folder } }, drop);
    assert.equal(Buffer.from(await vscode.workspace.fs.readFile(at('/srv/site/served.rlenv.yaml'))).toString(), SERVED);
    assert.ok((await vscode.workspace.fs.readDirectory(at('/srv/site/sales'))).length > 0);

    const bytes = new Uint8Array(300_000).map((_, index) => (index * 31) & 255);
    await vscode.workspace.fs.writeFile(at('/srv/site/data.bin'), bytes);
    const downloads = inWorkspace('downloads');
    await mkdir(downloads.fsPath);
    await answering([{ choose: [downloads] }], () => command(Commands.downloadFromSandbox, folder));
    assert.deepEqual(Buffer.compare(await readFile(join(downloads.fsPath, 'site', 'data.bin')), bytes), 0);
    const again = await answering([{ choose: [downloads] }, undefined], () => command(Commands.downloadFromSandbox, folder));
    assert.match(again.asked[1]!.text, /^Failed to download \/srv\/site: .*is there already/);
  });

  it('shows the beginning or the end of a file that is too large for an editor', async () => {
    const large = new Uint8Array(70_000_000).fill(97);
    large.set(new TextEncoder().encode('\nthe end\n'), large.length - 9);
    await writeFile(join(root(), 'large.txt'), large);
    await api.services.runner.request('files/upload', { root: root(), id: ref.id, from: [join(root(), 'large.txt')], to: '/srv' });
    await rm(join(root(), 'large.txt'));
    const { asked } = await answering([{ press: 'Open the Last 4.0 MB' }], () => command(InternalCommands.openSandboxFile, { ...ref, path: '/srv/large.txt', folder: false, size: large.length }));
    assert.match(asked[0]!.text, /^\/srv\/large\.txt has 70 MB, too much for an editor/);
    const document = await until('the part', [vscode.window.onDidChangeActiveTextEditor], () => vscode.workspace.textDocuments.find(({ uri }) => uri.path === '/srv/large.txt'));
    assert.ok(document.getText().endsWith('a\nthe end\n'));
    assert.equal(document.getText().length, 4_000_000);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('is forked with its files as they are, and the fork can be kept until somebody ends it', async () => {
    const fork = (await command<SandboxRef>(Commands.forkSandbox, ref));
    const item = await itemOf(api.trees.sandboxes, ({ sandbox, description }) => sandbox?.id === fork.id && /fork/.test(description ?? ''), 'the fork');
    assert.ok((await vscode.workspace.fs.stat(sandboxUri(fork, '/srv/site/data.bin'))).size === 300_000);
    await answering([{ pick: '5 min' }], () => command(Commands.keepSandbox, item));
    await itemOf(api.trees.sandboxes, ({ sandbox, description }) => sandbox?.id === fork.id && /expires in [45] min/.test(description ?? ''), 'when it expires');
    await answering([{ pick: 'Another length…' }, { type: '9m' }], () => command(Commands.keepSandbox, item));
    await itemOf(api.trees.sandboxes, ({ sandbox, description }) => sandbox?.id === fork.id && /expires in [89] min/.test(description ?? ''), 'that it expires later');
    const ended = await answering([{ press: 'Terminate' }], () => command(Commands.terminateSandbox, item));
    assert.match(ended.asked[0]!.text, /^Terminate served-\w{4}\?$/);
    assert.ok(!live().get(fork));
    assert.ok(live().get(ref));
  });

  it('says that it is about to expire, and stays if a person says so', async () => {
    const warned = new Promise((resolve) => void api.services.runner.on('sandbox/expiring', resolve));
    const { asked } = await answering([{ press: 'Keep Until Terminated' }], async () => {
      await api.services.runner.request('sandbox/extend', { root: ref.root, id: ref.id, keepMs: 5000 });
      await warned;
      await until('it to stay', [sandboxesChange], async () => {
        await live().list();
        return live().get(ref)?.sandbox.remainingMs === null ? true : undefined;
      });
    });
    assert.match(asked[0]!.text, /^Sandbox served-\w{4} expires in /);
  });

  it('is left alone when those of a process that died are terminated, and ended with all others only after a question', async () => {
    const { services, trees } = api;
    const cli = spawn(process.execPath, [join(services.context.extensionPath, 'dist', 'cli.mjs'), 'exec', 'served.rlenv.yaml', '--', 'sh', '-c', 'echo up; exec sleep 600'], { cwd: root(), stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(cli.stdout, 'data');
      await itemOf(trees.sandboxes, ({ item }) => item === Items.foreignSandbox, 'the sandbox of another process');
      cli.kill('SIGKILL');
      await once(cli, 'exit');
      // What the kernel has not ended with its process yet is ended by the command; what is owned stays.
      await command(Commands.terminateOrphans);
      assert.deepEqual((await live().list()).map(({ sandbox }) => sandbox.id), [ref.id]);
    } finally {
      cli.kill('SIGKILL');
    }
    const kept = await answering([undefined], () => command(Commands.terminateAllSandboxes));
    assert.match(kept.asked[0]!.text, /^Terminate served-\w{4}\?$/);
    assert.equal((await live().list()).length, 1);
    await answering([{ press: 'Terminate All' }], () => command(Commands.terminateAllSandboxes));
    assert.deepEqual(await live().list(), []);
  });
});
