/** What stands between the run view's page and the extension. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { artifactPath } from '../../../src/extension/panels/artifactPath.js';
import { runViewPage } from '../../../src/extension/panels/html.js';
import { parseMessage, restoredRun } from '../../../src/extension/panels/messages.js';

describe('messages of the run view', () => {
  const query = { filter: 'status:error', sort: 'reward', descending: true, start: 0, count: 100 };

  it('lets through what the protocol has', () => {
    const messages = [
      { id: 0, method: 'ready', params: undefined },
      { id: 1, method: 'snapshot', params: null },
      { id: 2, method: 'rows', params: query },
      { id: 3, method: 'episode', params: { episode: 12 } },
      { id: 4, method: 'open', params: { episode: 12, what: 'stderr' } },
      { id: 5, method: 'open', params: { episode: 12, artifact: 'a/b.png' } },
      { id: 6, method: 'action', params: { action: 'rerunFailed' } },
    ];
    for (const message of messages) assert.deepEqual(parseMessage(message), { ok: true, message });
  });

  it('refuses everything else, and says which request it was', () => {
    const refused: [unknown, number | undefined][] = [
      [undefined, undefined],
      ['ready', undefined],
      [[{ id: 1 }], undefined],
      [{ id: -1, method: 'ready' }, undefined],
      [{ id: '1', method: 'ready' }, undefined],
      [{ id: 1, method: 'eval' }, 1],
      [{ id: 1, method: 'constructor' }, 1],
      [{ id: 1, method: '__proto__' }, 1],
      [{ id: 1, method: 'toString', params: {} }, 1],
      [{ id: 2, method: 'rows', params: { ...query, count: 1e9 } }, 2],
      [{ id: 2, method: 'rows', params: { ...query, start: 0.5 } }, 2],
      [{ id: 2, method: 'rows', params: { ...query, sort: 'owner' } }, 2],
      [{ id: 2, method: 'rows', params: { ...query, filter: 'x'.repeat(5000) } }, 2],
      [{ id: 3, method: 'episode', params: { episode: '../..' } }, 3],
      [{ id: 4, method: 'open', params: { episode: 1 } }, 4],
      [{ id: 4, method: 'open', params: { episode: 1, what: '../run.json' } }, 4],
      [{ id: 4, method: 'open', params: { episode: 1, what: 'stdout', artifact: 'x' } }, 4],
      [{ id: 5, method: 'action', params: { action: 'workbench.action.quit' } }, 5],
    ];
    for (const [message, id] of refused) assert.deepEqual(parseMessage(message), id === undefined ? { ok: false } : { ok: false, id }, JSON.stringify(message));
  });

  it('finds the run of a page that was open before the window was reloaded', () => {
    assert.deepEqual(restoredRun({ run: '{"root":"/w","id":"hello-1"}', view: {} }), { root: '/w', id: 'hello-1' });
    for (const state of [undefined, null, 7, {}, { run: 'x' }, { run: 'null' }, { run: '{"root":1,"id":"x"}' }]) assert.equal(restoredRun(state), undefined);
  });
});

describe('page of the run view', () => {
  const page = runViewPage({ base: 'https://files/webview', cspSource: 'https://files', nonce: 'abc', language: 'en', title: '<img src=x onerror=alert(1)>', run: '{"root":"/a \\"b\\" & <c>"}' });

  it('runs its own script and nothing else', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!.replaceAll('&#39;', "'");
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'nonce-abc'(;|$)/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.deepEqual(page.match(/<script[^>]*>/g), ['<script type="module" nonce="abc" src="https://files/webview/runView.js">']);
    assert.doesNotMatch(page, /<style|<[^>]*\s(on\w+|style)=/);
  });

  it('escapes what it is given', () => {
    assert.ok(page.includes('<title>&lt;img src=x onerror=alert(1)&gt;</title>'));
    assert.ok(page.includes('data-run="{&quot;root&quot;:&quot;/a \\&quot;b\\&quot; &amp; &lt;c&gt;&quot;}"'));
  });
});

describe('artifacts', () => {
  let root: string;
  const ref = () => ({ root, id: 'hello-1' });

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'artifacts-'));
    const folder = join(root, '.rlenv/runs/hello-1/episodes/3/artifacts');
    await mkdir(join(folder, 'out'), { recursive: true });
    await writeFile(join(folder, 'out/plot.png'), 'x');
    await writeFile(join(root, 'secret.txt'), 'x');
    await symlink(join(root, 'secret.txt'), join(folder, 'link.txt'));
    await symlink(root, join(folder, 'up'));
  });
  after(() => rm(root, { recursive: true }));

  it('are found by their name', async () => {
    assert.match(await artifactPath(ref(), 3, 'out/plot.png'), /artifacts\/out\/plot\.png$/);
  });

  it('are never outside the folder of the episode, whatever they are called or link to', async () => {
    for (const name of ['../../../../../../secret.txt', 'link.txt', 'up/secret.txt', '/etc/passwd', 'out', '', '.', 'gone.txt', 'a\0b']) {
      await assert.rejects(artifactPath(ref(), 3, name), { name: 'Failure' }, JSON.stringify(name));
    }
    await assert.rejects(artifactPath({ root, id: '../..' }, 3, 'secret.txt'));
  });
});
