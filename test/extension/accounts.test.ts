/** Accounts: profiles in VS Code's own secret storage, and what the sidebar shows of them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import type { TestApi } from '../../src/extension/activate.js';
import type { Service } from '../../src/extension/accounts.js';
import { Commands, Items, Views } from '../../src/extension/ids.js';
import { answering } from './answers.js';
import { activated, inWorkspace, itemOf, nodesOf, write } from './api.js';

const GOOD = 'e2b_good';

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('accounts in VS Code', function () {
  this.timeout(120_000);
  let api: TestApi;
  let service: Service;
  let server: Server;
  let url: string;
  /** Where nobody listens. */
  let closed: string;
  const asked: string[] = [];

  before(async () => {
    api = await activated();
    service = api.services.accounts.services.find(({ id }) => id === 'e2b')!;
    // As much of the service as tells one key from another.
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(request.headers['x-api-key'] === GOOD ? 200 : 401, { 'content-type': 'application/json' });
      response.end(request.headers['x-api-key'] === GOOD ? '[]' : '{"code":401,"message":"no"}');
    });
    url = await listen(server);
    const other = createServer();
    closed = await listen(other);
    other.close();
    await vscode.commands.executeCommand(`${Views.accounts}.focus`);
  });
  after(() => server.close());

  const account = (description: RegExp) => itemOf(api.trees.accounts, (node) => node.label === 'E2B' && description.test(node.description ?? ''), `E2B, ${description}`);
  const variables = (key: string, at = url) => ({ E2B_API_KEY: key, E2B_API_URL: at, E2B_SANDBOX_URL: at });
  const signIn = async (name: string, values: Record<string, string>) => {
    const { accounts } = api.services;
    const report = await accounts.try(service, values);
    await accounts.signIn(service, name, values, report);
    return report;
  };

  it('keeps a key in the secret storage alone, and shows who is signed in and what the plan allows', async () => {
    await account(/^not signed in$/);
    assert.equal((await signIn('work', variables(GOOD))).ok, true);
    const handle = await account(/^work {2}0 of 20 live$/);
    assert.equal(handle.node.item, Items.account);
    assert.match(handle.node.spoken, /^Account at E2B, work, /);
    assert.ok((await nodesOf(api.trees.accounts, handle)).some(({ label, description }) => label === 'Sandboxes' && description === '0 of 20 live'));
    const { secrets, globalState } = api.services.context;
    assert.ok((await secrets.get('account.e2b'))!.includes(GOOD));
    assert.ok(!JSON.stringify(globalState.keys().map((key) => globalState.get(key))).includes(GOOD));
    const shown = api.trees.accounts.resolveTreeItem(api.trees.accounts.getTreeItem(handle), handle).tooltip as string;
    assert.ok(shown.includes('Signed in as work') && !shown.includes(GOOD), shown);
  });

  it('has the engine ask with the profile that counts, and tells a key that is refused from a service that cannot be reached', async () => {
    assert.equal((await signIn('wrong', variables('e2b_bad'))).code, 'wrong-key');
    const refused = await account(/^wrong {2}key refused$/);
    assert.ok((await nodesOf(api.trees.accounts, refused)).some(({ label }) => /refuses the API key/.test(label)));
    assert.equal((await signIn('far', variables(GOOD, closed))).code, 'no-network');
    await account(/^far {2}cannot be reached$/);
    const far = await account(/^far/);
    const work = (await nodesOf(api.trees.accounts, far)).find(({ label }) => label === 'work')!;
    await vscode.commands.executeCommand(work.command!.id, ...work.command!.arguments);
    await account(/^work {2}0 of 20 live$/);
    assert.equal((await api.services.accounts.check(service)).ok, true);
  });

  it('starts nothing that the service cannot do, and says why', async () => {
    const file = inWorkspace('wants-gpu.rlenv.yaml');
    await write(file, 'name: wants-gpu\nprovider: e2b\nimage: debian:bookworm-slim\nresources: {gpu: 1}\nepisode: {run: echo 1}\nreward: stdout\n');
    try {
      const before = asked.length;
      const refusal = await answering([undefined], () => vscode.commands.executeCommand(Commands.run, file));
      assert.match(refusal.asked[0]!.text, /^Failed to run wants-gpu: .*GPU/);
      assert.deepEqual(asked.slice(before).filter((request) => !request.startsWith('GET ')), []);
    } finally {
      await vscode.workspace.fs.delete(file);
    }
  });

  it('is signed out when the last profile is gone', async () => {
    for (const name of ['work', 'wrong', 'far']) await api.services.accounts.signOut(service, name);
    await account(/^not signed in$/);
    assert.equal(await api.services.context.secrets.get('account.e2b'), undefined);
    assert.equal((await api.services.accounts.check(service)).code, 'signed-out');
    await vscode.commands.executeCommand(Commands.refresh);
  });
});
