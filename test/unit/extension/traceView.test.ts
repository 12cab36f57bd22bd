/** What stands between the trace view's page and the extension, and what a link may open. */
import assert from 'node:assert/strict';
import { parseTraceMessage } from '../../../src/extension/panels/traceMessages.js';
import { traceViewPage } from '../../../src/extension/panels/html.js';
import { webAddress } from '../../../src/extension/panels/webAddress.js';
import { isInside, linkAddress, readLink, restoredTrace } from '../../../src/extension/traceLink.js';

describe('messages of the trace view', () => {
  it('lets through what the protocol has', () => {
    const messages = [
      { id: 0, method: 'ready', params: {} },
      { id: 1, method: 'ready', params: { member: 3 } },
      { id: 2, method: 'refresh', params: { always: true } },
      { id: 3, method: 'summaries', params: { from: 0, to: 200 } },
      { id: 4, method: 'nextError', params: { from: -1, direction: 1 } },
      { id: 5, method: 'search', params: { search: 1, text: 'x' } },
      { id: 6, method: 'open', params: { step: 1, place: ['calls', 0, 'result', 1] } },
      { id: 7, method: 'open', params: { step: 1, raw: true } },
      { id: 8, method: 'copy', params: { text: 'x'.repeat(1e6), what: 'step 1' } },
      { id: 9, method: 'endSearch', params: undefined },
      { id: 10, method: 'keep', params: { state: '{}' } },
      { id: 11, method: 'travel', params: { step: 3, to: 'fork' } },
    ];
    for (const message of messages) assert.deepEqual(parseTraceMessage(message), { ok: true, message });
  });

  it('refuses everything else, and says which request it was', () => {
    const refused = [
      { id: 1, method: 'constructor', params: {} },
      { id: 1, method: 'ready', params: { member: -1 } },
      { id: 1, method: 'summaries', params: { from: 0, to: 1e9 } },
      { id: 1, method: 'summaries', params: { from: 9, to: 3 } },
      { id: 1, method: 'step', params: { step: 1.5 } },
      { id: 1, method: 'timeline', params: { bins: 1e9 } },
      { id: 1, method: 'search', params: { search: 1, text: '' } },
      { id: 1, method: 'search', params: { search: 1, text: 'x'.repeat(5000) } },
      { id: 1, method: 'open', params: { step: 1 } },
      { id: 1, method: 'open', params: { step: 1, place: [{}] } },
      { id: 1, method: 'open', params: { step: 1, place: 'calls' } },
      { id: 1, method: 'copy', params: { text: 'x'.repeat(9 * 2 ** 20), what: '' } },
      { id: 1, method: 'browse', params: { url: 7 } },
      { id: 1, method: 'keep', params: { state: 'x'.repeat(5000) } },
      { id: 1, method: 'travel', params: { step: 3, to: 'shell' } },
      { id: 1, method: 'travel', params: { step: '3', to: 'fork' } },
    ];
    for (const message of refused) assert.deepEqual(parseTraceMessage(message), { ok: false, id: 1 }, JSON.stringify(message).slice(0, 100));
  });
});

describe('page of the trace view', () => {
  it('shows images that it was given and fetches none', () => {
    const page = traceViewPage({ base: 'https://files/webview', cspSource: 'https://files', nonce: 'abc', language: 'en', title: 'x', trace: '{"file":"/a \\"b\\" & <c>"}' });
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!.replaceAll('&#39;', "'");
    assert.equal(policy, "default-src 'none'; script-src 'nonce-abc'; style-src https://files; font-src https://files; img-src https://files blob:");
    assert.ok(page.includes('data-trace="{&quot;file&quot;:&quot;/a \\&quot;b\\&quot; &amp; &lt;c&gt;&quot;}"'));
  });
});

describe('links to a step', () => {
  const roots = ['/work/envs', '/work/more'];

  it('name a file of the workspace from its folder, and come back as they were', () => {
    const link = { file: '/work/envs/.rlenv/runs/a b/episodes/3/trace.jsonl', step: 12, member: 2 };
    const address = linkAddress('rl-sandboxes.rl-sandboxes', link, roots);
    assert.equal(address, 'rl-sandboxes.rl-sandboxes/trace?file=.rlenv%2Fruns%2Fa%20b%2Fepisodes%2F3%2Ftrace.jsonl&member=2&step=12');
    const [first, second] = readLink('/trace', address.split('?')[1]!, roots);
    assert.deepEqual(first, link);
    assert.equal(second!.file, '/work/more/.rlenv/runs/a b/episodes/3/trace.jsonl');
  });

  it('keep odd names', () => {
    for (const name of ['a+b.traj', 'a&step=9.traj', '100%.traj', 'é#?.traj']) {
      const [link] = readLink('/trace', linkAddress('x', { file: `/work/envs/${name}`, step: 1 }, roots).split('?')[1]!, roots);
      assert.deepEqual(link, { file: `/work/envs/${name}`, step: 1 });
      // VS Code hands over a query that is decoded once already, as far as that can be undone.
      if (!/[&%#?]/.test(name)) assert.equal(readLink('/trace', `file=${name}&step=1`, roots)[0]!.file, `/work/envs/${name}`);
    }
  });

  it('are none where they say something else', () => {
    for (const [path, query] of [['/run', 'file=a'], ['/trace', ''], ['/trace', 'step=1'], ['/trace', 'file=a%00b']] as const) assert.deepEqual(readLink(path, query, roots), []);
    assert.deepEqual(readLink('/trace', 'file=a&step=x&member=-1', ['/r']), [{ file: '/r/a' }]);
  });

  it('tell what is inside of a folder', () => {
    assert.equal(isInside('/w', '/w/a'), true);
    assert.equal(isInside('/w', '/w/..a'), true);
    for (const file of ['/w', '/', '/wa', '/w/../x', '/etc/passwd']) assert.equal(isInside('/w', file), false, file);
  });

  it('of a page that was open are found again, and nothing else', () => {
    assert.deepEqual(restoredTrace({ trace: '{"file":"/w/t.jsonl","member":1}', view: {} }), { file: '/w/t.jsonl', member: 1 });
    for (const state of [undefined, null, 7, {}, { trace: 'x' }, { trace: 'null' }, { trace: '{"file":"t"}' }, { trace: '{"file":"/t","member":-1}' }]) assert.equal(restoredTrace(state), undefined);
  });
});

describe('addresses in a trace', () => {
  it('are shown as they really are, and are of the web', () => {
    assert.equal(webAddress('HTTPS://Example.org/a b'), 'https://example.org/a%20b');
    assert.equal(webAddress('https://аррӏе.com'), 'https://xn--80ak6aa92e.com/');
    assert.equal(webAddress('https://good.org@evil.org/'), 'https://evil.org/');
    assert.equal(webAddress('https://e.org/\u202Egpj.exe'), 'https://e.org/%E2%80%AEgpj.exe');
    for (const text of ['javascript:alert(1)', 'command:workbench.action.quit', 'file:///etc/passwd', 'vscode://x/y', 'data:text/html,x', 'x', '', '//e.org']) assert.equal(webAddress(text), undefined, text);
  });
});
