/** The trace view in a real browser, by keyboard alone. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { sees } from '../../support/sees.js';
import { until } from '../page.js';
import { type TraceOptions, TraceViewBrowser } from './page.js';

const label = (page: Page) => page.locator('.step-label').textContent();
const shows = (page: Page, step: number) => until(page, `document.querySelector('.step-label').textContent === '${step}' && document.querySelector('.step').getAttribute('aria-busy') === 'false'`);
const requests = (page: Page, method: string) => page.evaluate((name) => window.traceStub.requests.filter((request) => request.method === name).map((request) => request.params), method);
const text = async (page: Page, selector: string) => (await page.locator(selector).innerText()).replace(/\s+/g, ' ').trim();
const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

describe('trace view', function () {
  this.timeout(120_000);
  let browser: TraceViewBrowser;
  let pages: { complaints: string[]; page: Page }[] = [];
  before(async () => (browser = await TraceViewBrowser.launch()));
  after(() => browser?.close());
  // Whatever a test was about: no errors of the page, no refusals of the content security policy.
  afterEach(async () => {
    const complaints = pages.flatMap((opened) => opened.complaints);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    pages = [];
    assert.deepEqual(complaints, []);
  });

  const open = async (options: TraceOptions = {}, selector?: string): Promise<Page> => {
    const opened = await browser.open(options, selector);
    pages.push(opened);
    if (!selector) await until(opened.page, `document.querySelector('.step')?.getAttribute('aria-busy') === 'false'`);
    return opened.page;
  };

  describe('what it shows', () => {
    it('is how the episode ended and why, what it earned and of what, and the step that failed', async () => {
      const page = await open();
      const head = await text(page, 'rl-trace-header');
      for (const part of ['repair', 'seed 17', 'sample 2', '12 steps', 'truncated: max_turns', 'reward 0.1', 'tests_passed 0 × 0.8', 'style 0.5 × 0.2']) assert.ok(head.includes(part), `${part} in ${head}`);
      assert.equal(await label(page), '5');
      const body = await text(page, '.step-body');
      for (const part of ['$ pytest -q', 'ZeroDivisionError: division by zero', 'exit 1']) assert.ok(body.includes(part), part);
      assert.ok(!body.includes('[31m'));
    });

    it('is code in its colours, an edit as a diff, a table, a tree', async () => {
      const page = await open({ start: 6 });
      await page.locator('.code .code-keyword', { hasText: 'def' }).waitFor();
      await press(page, 'l');
      await shows(page, 7);
      assert.equal(await page.locator('.call .diff-added').count(), 2);
      assert.equal(await page.locator('.diff-removed').count() > 0, true);
      await press(page, 'End');
      await shows(page, 11);
      assert.match(await text(page, '.components'), /tests_passed 0 0\.8 0 of 6 tests passed/);
      assert.match(await text(page, 'rl-json.json'), /exit_code: 1/);
      await press(page, 'g');
      await page.keyboard.type('1');
      await press(page, 'Enter');
      await shows(page, 1);
      await page.locator('.markdown table td', { hasText: 'do not touch' }).waitFor();
    });

    it('is folded where it is long, with how much, and searched in all the same', async () => {
      const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n');
      const page = await open({ details: { 5: { calls: [{ name: 'bash', arguments: { command: 'seq' }, result: [{ type: 'terminal', text: lines }], exitCode: 0 }] } } });
      assert.match(await text(page, '.fold'), /^4,960 lines, [\d,]+ characters are folded Show All Open in Editor$/);
      assert.ok(!(await text(page, '.step-body')).includes('line 2500 '));
      await press(page, '/');
      await page.keyboard.type('line 2500');
      await until(page, `document.querySelector('.step-body').textContent.includes('line 2500')`);
      await press(page, 'Escape');
      await page.getByRole('button', { name: 'Open in Editor' }).last().press('Enter');
      assert.deepEqual(await requests(page, 'open'), [{ step: 5, place: ['calls', 0, 'result', 0] }]);
    });

    it('says what was not recorded, and where', async () => {
      const page = await open({ details: { 5: { calls: [], observation: [{ type: 'terminal', text: 'begin\nend\n', dropped: { bytes: 123_456, at: 6 } }] } } });
      assert.match(await text(page, '.block-content'), /begin 121 KB were not recorded end/);
    });

    it('is said where it cannot be read, with a way to try again', async () => {
      const page = await open();
      await page.evaluate(() => window.traceStub.failing.set('step', 'the file is gone'));
      await press(page, 'End');
      await page.locator('.step-body [role="alert"]', { hasText: 'the file is gone' }).waitFor();
      await page.evaluate(() => window.traceStub.failing.clear());
      await page.locator('.step-body').getByRole('button', { name: 'Retry' }).press('Enter');
      await shows(page, 11);
    });
  });

  describe('keys', () => {
    it('step, to either side, to the ends and by pages', async () => {
      const page = await open();
      for (const [key, step] of [['ArrowDown', 6], ['ArrowUp', 5], ['l', 6], ['h', 5], ['ArrowRight', 6], ['ArrowLeft', 5], ['Home', 0], ['h', 0], ['End', 11], ['l', 11], ['PageUp', 0]] as const) {
        await press(page, key);
        await shows(page, step);
      }
      await sees(() => page.locator('.step-row[aria-selected="true"]').getAttribute('aria-posinset'), '1');
    });

    it('go from error to error, and say when there is no other', async () => {
      const page = await open({ start: 0 });
      for (const step of [5, 8, 10]) {
        await press(page, 'n');
        await shows(page, step);
      }
      await press(page, 'n');
      await until(page, `document.querySelector('.foot .said').textContent === 'No error after this step.'`);
      await press(page, 'p');
      await shows(page, 8);
    });

    it('search the whole trace, and step through what is found', async () => {
      const page = await open({ start: 0 });
      await press(page, '/');
      await page.keyboard.type('division');
      await until(page, `document.querySelector('.search-status').textContent === '2 results'`);
      await press(page, 'Enter');
      await shows(page, 5);
      await sees(() => page.locator('.search-input input').getAttribute('aria-activedescendant'), 'hit-0');
      await until(page, `CSS.highlights.get('find')?.size >= 4`);
      await press(page, 'ArrowDown');
      await shows(page, 6);
      await press(page, 'Shift+Enter');
      await shows(page, 5);
      await press(page, 'Escape');
      await page.locator('rl-search').waitFor({ state: 'detached' });
      await press(page, 'l');
      await shows(page, 6);
    });

    it('show the step as it stands in the file, and copy it, and a link to it, and its model call', async () => {
      const page = await open({ start: 6 });
      await press(page, 'r');
      await page.locator('.raw .code', { hasText: '"kind": "model"' }).waitFor();
      await press(page, 'r', 'c', 'y', 'o');
      await until(page, `['copy', 'copyLink', 'open'].every((name) => window.traceStub.requests.some(({ method }) => method === name))`);
      const [copied] = (await requests(page, 'copy')) as { text: string }[];
      assert.match(copied!.text, /^## Step 6: As expected/);
      assert.match(((await requests(page, 'copyLink')) as { title: string }[])[0]!.title, /^step 6, As expected/);
      assert.deepEqual(await requests(page, 'open'), [{ step: 6, raw: true }]);
      await page.getByRole('button', { name: 'cURL' }).press('Enter');
      await until(page, `window.traceStub.requests.filter(({ method }) => method === 'copy').length === 2`);
      assert.match(((await requests(page, 'copy')) as { text: string }[])[1]!.text, /^curl 'http:\/\/localhost:8000\/v1\/chat\/completions'/);
    });

    it('go into the content, scroll there, and come back', async () => {
      const page = await open({ height: 320 });
      await press(page, 'Enter', 'PageDown');
      await until(page, `document.querySelector('.step-body').scrollTop > 0`);
      assert.equal(await label(page), '5');
      await press(page, 'l');
      await shows(page, 6);
      await press(page, 'Escape', 'ArrowDown');
      await shows(page, 7);
    });

    it('play, pause, and change the speed', async () => {
      const page = await open({ story: 'pole', steps: 4000, start: 3 });
      await press(page, '>', '>', '>', '>');
      await until(page, `document.querySelector('.foot .speed').textContent === '16×'`);
      await press(page, ' ');
      await until(page, `Number(document.querySelector('.step-label').textContent) > 8`);
      await press(page, ' ');
      await until(page, `document.querySelector('.foot .play').ariaLabel === 'Play'`);
      assert.ok(Number(await label(page)) < 3999);
      await press(page, 'End', 'PageUp', ' ');
      await until(page, `document.querySelector('.step-label').textContent === '3999'`);
      await until(page, `document.querySelector('.foot .play').ariaLabel === 'Play'`);
      await page.locator('.picture img').waitFor();
    });

    it('are listed, and do nothing behind the list', async () => {
      const page = await open();
      await press(page, '?');
      const dialog = page.getByRole('dialog');
      for (const part of ['Next error', 'Search the whole trace', 'F10', 'This list']) assert.ok((await dialog.innerText()).includes(part), part);
      await press(page, 'l', 'n');
      assert.equal(await label(page), '5');
      await press(page, 'Escape');
      await dialog.waitFor({ state: 'detached' });
      await press(page, 'l');
      await shows(page, 6);
    });

    it('go back to the step in a sandbox, or run episodes from there, where it was recorded here', async () => {
      const page = await open({ start: 3, head: { format: 'native' } });
      await press(page, 's', 'f', 'l');
      await shows(page, 4);
      await page.getByRole('button', { name: 'Open Sandbox at This Step' }).press('Enter');
      await page.getByRole('button', { name: 'Fork from Here' }).press('Enter');
      await sees(() => requests(page, 'travel'), [{ step: 3, to: 'sandbox' }, { step: 3, to: 'fork' }, { step: 4, to: 'sandbox' }, { step: 4, to: 'fork' }]);
      const other = await open({ head: { format: 'atif' } });
      await press(other, 's');
      await until(other, `document.querySelector('.foot .said').textContent === 'Only steps that were recorded here can be reached again.'`);
      assert.equal(await other.getByRole('button', { name: 'Fork from Here' }).count(), 0);
      assert.deepEqual(await requests(other, 'travel'), []);
    });

    it('for a search: what is typed after it is for the box, however late VS Code passes it on', async () => {
      const page = await open({ start: 0 });
      await press(page, 'Control+f');
      await page.keyboard.type('div');
      await page.evaluate(() => window.traceStub.notify('command', { command: 'search' }));
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
      await page.keyboard.type('ision');
      await until(page, `document.querySelector('.search-status').textContent === '2 results'`);
      assert.equal(await page.locator('.search-input input').inputValue(), 'division');
      assert.deepEqual(await requests(page, 'copy'), []);
      await press(page, 'Escape');
      await press(page, 'Control+f');
      await page.keyboard.type('x');
      await sees(() => page.locator('.search-input input').inputValue(), 'x');
    });

    it('that VS Code passes on step over and out of a subagent', async () => {
      const nested = Object.fromEntries([3, 4, 5, 6].map((step) => [step, { depth: 1 }]));
      const page = await open({ start: 2, details: nested });
      const command = async (name: 'stepOver' | 'stepInto' | 'stepOut' | 'stepBack', step: number) => {
        await page.evaluate((command) => window.traceStub.notify('command', { command }), name);
        await shows(page, step);
      };
      await command('stepOver', 7);
      await command('stepBack', 2);
      await command('stepInto', 3);
      await command('stepOver', 4);
      await command('stepOut', 7);
    });
  });

  describe('the timeline', () => {
    it('goes to the step that is pointed at, and is read aloud', async () => {
      const page = await open({ start: 0 });
      const track = page.getByRole('slider');
      await until(page, `document.querySelector('.timeline-track canvas').width > 300`);
      const { x, y, width, height } = (await track.boundingBox())!;
      await page.mouse.click(x + width - 3, y + height / 2);
      await shows(page, 11);
      await sees(() => track.getAttribute('aria-valuenow'), '12');
      assert.match((await track.getAttribute('aria-valuetext'))!, /^Step 11, verifier, verifier 0 of 6 tests passed, reward 0\.1, 1\.9 s$/);
      await until(page, `document.querySelector('.timeline-track canvas').getContext('2d').getImageData(0, 0, 300, 40).data.some((value) => value !== 0)`);
    });
  });

  describe('a running episode', () => {
    const grow = (page: Page, count: number, pending = false) => page.evaluate(([steps, going]) => window.traceStub.grow(steps, going), [count, pending] as const);

    it('is followed at its end, with the step that goes on', async () => {
      const page = await open({ begun: 6 });
      assert.match(await text(page, '.end'), /running/);
      await grow(page, 2, true);
      await shows(page, 7);
      await page.locator('.pending').waitFor();
      await grow(page, 4);
      await shows(page, 11);
      assert.match(await text(page, '.end'), /truncated: max_turns/);
    });

    it('leaves the reader where the reader is', async () => {
      const page = await open({ begun: 6, start: 2 });
      await grow(page, 3);
      await until(page, `document.querySelector('.step-row').ariaSetSize === '9'`);
      assert.equal(await label(page), '2');
    });
  });

  it('comes back to where the reader was', async () => {
    const page = await open({ start: 0 });
    await press(page, 'n');
    await shows(page, 5);
    await press(page, 'l', 'r', '/');
    await page.keyboard.type('division');
    await until(page, `document.querySelector('.search-status').textContent === '2 results'`);
    await until(page, `JSON.parse(sessionStorage.getItem('trace-stub-state'))?.view.find === 'division'`);
    await page.reload();
    await until(page, `document.querySelector('.search-status')?.textContent === '2 results'`);
    await shows(page, 6);
    await page.locator('.raw').waitFor();
  });

  it('comes back there where VS Code had not saved that by then, at once', async () => {
    const page = await open({ start: 0, unsaved: true });
    await press(page, 'n');
    await shows(page, 5);
    await press(page, 'l');
    await page.reload();
    await shows(page, 6);
  });

  it('leaves each of two views of a file where it was', async () => {
    const kept = (place: string, step: number, at: number) => JSON.stringify({ page: place, at, view: { step, raw: false, split: 0.3, speed: 1 } });
    const page = await open({ script: `sessionStorage.setItem('trace-stub-state', '${kept('this', 3, 1000)}'); sessionStorage.setItem('trace-stub-kept', '${kept('other', 9, 2000)}');` });
    await shows(page, 3);
  });

  it('comes back to a step that has yet to be found in a large file', async () => {
    const state = JSON.stringify({ page: 'this', at: 1000, view: { step: 9, raw: false, split: 0.3, speed: 1 } });
    const page = await open({ begun: 4, head: { live: false, indexed: 0.2 }, script: `sessionStorage.getItem('trace-stub-state') ?? sessionStorage.setItem('trace-stub-state', '${state}');` });
    await shows(page, 3);
    await page.evaluate(() => window.traceStub.grow(7));
    await shows(page, 9);
  });

  it('picks another trace of the same file', async () => {
    const page = await open({ head: { members: { selected: 0, total: 3, names: ['first', 'second', 'third'] } } });
    await page.locator('vscode-single-select').focus();
    await press(page, 'ArrowDown', 'ArrowDown', 'Enter');
    await until(page, `window.traceStub.requests.filter(({ method }) => method === 'ready').length === 2`);
    assert.deepEqual((await requests(page, 'ready'))[1], { member: 1 });
  });

  it('shows a million steps, from end to end', async () => {
    const page = await open({ steps: 1_000_000, start: 500_000 });
    await shows(page, 500_000);
    await press(page, 'End');
    await shows(page, 999_999);
    const row = page.locator('.step-row[aria-selected="true"]');
    await sees(async () => [await row.getAttribute('aria-setsize'), await row.getAttribute('aria-posinset')], ['1000000', '1000000']);
    await row.locator('.row-title', { hasText: 'bash' }).waitFor();
    await row.waitFor();
    assert.ok((await page.locator('.step-row').count()) < 120);
  });

  describe('hostile text', () => {
    const MARKUP = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>';
    const part = `${MARKUP}\n\n[a](javascript:window.pwned=1) [b](command:workbench.action.quit) [c](https://example.org/x) ![d](https://example.org/t.png) <https://example.org/auto>\n\n\u202Eevil\u2066`;

    it('is text wherever it stands', async () => {
      const step = {
        title: MARKUP, error: MARKUP, source: 'agent' as const,
        message: [{ type: 'text' as const, text: part }, { type: 'code' as const, language: 'html', text: MARKUP }, { type: 'diff' as const, text: `+${MARKUP}` }, { type: 'json' as const, value: { [MARKUP]: MARKUP, __proto__x: 1 } }],
        calls: [{ name: MARKUP, arguments: { command: MARKUP, [MARKUP]: MARKUP }, result: [{ type: 'terminal' as const, text: `\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1b[2J\x1b]0;t\x07${MARKUP}` }] }],
        files: [{ path: MARKUP, change: 'added' as const, diff: MARKUP }],
        components: [{ name: MARKUP, value: 1, detail: MARKUP }],
        model: { url: MARKUP, model: MARKUP, request: { x: MARKUP } },
        info: { [MARKUP]: [MARKUP] },
      };
      const page = await open({ head: { title: MARKUP, agent: MARKUP, end: { status: 'error', reason: MARKUP }, problems: [MARKUP, MARKUP] }, details: { 5: step } });
      await page.locator('.code-name, .code-string').first().waitFor();
      assert.equal(await page.evaluate('window.pwned'), undefined);
      assert.equal(await page.locator('rl-trace-view :is(img, script, iframe, a, style, link, object)').count(), 0);
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\x1b]/.test(await page.locator('rl-trace-view').innerText()));
      // Addresses that are not of the web are no links; the others open only by the extension.
      const links = page.locator('.markdown button.link');
      await sees(() => links.allInnerTexts(), ['c', 'd', 'https://example.org/auto']);
      await links.first().press('Enter');
      await sees(() => requests(page, 'browse'), [{ url: 'https://example.org/x' }]);
    });

    it('stops neither the page nor its parsers', async () => {
      const nested = `${'> '.repeat(5000)}x\n${'*'.repeat(20_000)}\n${'['.repeat(20_000)}\n${'- '.repeat(3000)}y\n${'`'.repeat(9999)}`;
      let deep: unknown = 'end';
      for (let depth = 0; depth < 500; depth++) deep = { deep };
      const page = await open({ details: { 5: { message: [{ type: 'text', text: nested }], info: deep, calls: [{ name: 'x', arguments: {}, result: [{ type: 'terminal', text: '\x1b[31ma\x1b[0mb'.repeat(50_000) }] }] } } });
      await until(page, `document.querySelector('.step-body .fold') !== null`);
      await press(page, 'l');
      await shows(page, 6);
    });
  });
});
