import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { sees } from '../support/sees.js';
import { type OpenOptions, RunViewBrowser, until } from './page.js';

const requests = (page: Page, method: string) => page.evaluate((name) => window.stub.requests.filter((request) => request.method === name).map((request) => request.params), method);
const firstRow = (page: Page): Locator => page.locator('.grid-body .row[aria-rowindex="2"]');
/** Clicks a row in the middle of the table. */
const clickMiddle = async (page: Page) => {
  const { x, y, height } = (await page.locator('.grid').boundingBox())!;
  await page.mouse.click(x + 100, y + height / 2);
};
const total = (page: Page, text: string) => sees(() => page.locator('.episode-count').textContent(), text);
/** Until the rows are in the order of a column of numbers, and no longer those of before. */
const sorted = (page: Page, column: string) =>
  until(page, `document.querySelector('.cell-${column}[aria-sort="ascending"]')
    && [...document.querySelectorAll('.grid-body .row:not(.loading)')].sort((one, other) => one.ariaRowIndex - other.ariaRowIndex).map((row) => Number(row.querySelector('.cell-${column}').textContent))
      .every((value, index, all) => index === 0 || value >= all[index - 1])`);

describe('run view', function () {
  this.timeout(120_000);
  let browser: RunViewBrowser;
  let pages: { complaints: string[]; page: Page }[] = [];
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());
  // Whatever a test was about: no errors of the page, no refusals of the content security policy.
  afterEach(async () => {
    const complaints = pages.flatMap((opened) => opened.complaints);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    pages = [];
    assert.deepEqual(complaints, []);
  });

  const open = async (options: OpenOptions, selector?: string): Promise<Page> => {
    const opened = await browser.open(options, selector);
    pages.push(opened);
    return opened.page;
  };

  describe('what it shows', () => {
    it('is the run, its counts and its statistics', async () => {
      const page = await open({ total: 512 });
      const text = (await page.locator('.run-view').innerText()).replace(/\s+/g, ' ');
      for (const part of ['code-repair run #14', 'finished', '41.0 s', 'docker', 'snapshot 8f31c2a07be1, built in 12.4 s', '512 seeds \u00d7 1', '64 at once', '512 / 512', '503 scored', '9 without reward']) assert.ok(text.includes(part), `${part} in ${text}`);
      assert.match(text, /mean 0\.506 \u00b1 0\.023/);
    });

    it('is a dash, never 0, where there is no reward', async () => {
      const page = await open({ total: 8, allFail: true });
      assert.deepEqual(await page.locator('.stats dd').allInnerTexts().then((texts) => texts.slice(0, 5)), Array(5).fill('\u2014'));
      assert.equal(await firstRow(page).locator('.cell-reward').innerText(), '\u2014');
      assert.equal(await page.locator('.chart-empty').first().innerText(), 'No episode has a reward.');
    });

    it('says that the snapshot is being built', async () => {
      const page = await open({ total: 64, finished: 0, run: { state: 'building', startedAt: null, finishedAt: null, snapshot: null } }, '.chart-empty');
      assert.match(await page.locator('.notice').innerText(), /Building the snapshot/);
      assert.equal(await page.locator('vscode-progress-bar').getAttribute('indeterminate'), '');
      // Whoever watches a build is not to slow it down: four pictures a second.
      assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('vscode-progress-bar').shadowRoot.querySelector('.indicator')).animationTimingFunction`), 'steps(8)');
    });

    it('has the sample of an episode only where there are several', async () => {
      assert.equal(await (await open({ total: 20 })).getByRole('columnheader', { name: 'sample' }).count(), 0);
      assert.equal(await (await open({ total: 20, run: { samples: 4 } })).getByRole('columnheader', { name: 'sample' }).count(), 1);
    });

    it('has charts that can be read aloud', async () => {
      const page = await open({ total: 512 });
      assert.match((await page.locator('.histogram').getAttribute('aria-label'))!, /^Histogram of 503 rewards\. Most are in 0\.4 to 0\.5: 66 episodes\.$/);
      assert.match((await page.locator('.series-plot').getAttribute('aria-label'))!, /512 episodes finished\. The running mean ends at 0\.5057/);
      assert.equal(await page.locator('rl-run-charts .time-bar').getAttribute('aria-label'), 'restore 8 %, act 79 %, score 11 %, tear down 2 %');
      await until(page, `document.querySelector('.series-plot canvas').getContext('2d').getImageData(0, 0, 300, 100).data.some((value) => value !== 0)`);
    });
  });

  describe('actions', () => {
    const labels = (page: Page) => page.locator('.header-actions button').evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));

    it('are those that the state allows', async () => {
      assert.deepEqual(await labels(await open({ total: 64 })), ['Rerun', 'Compare', 'Export', 'Open Template', 'Reveal'].toSpliced(0, 0, 'Rerun Failed'));
      assert.deepEqual(await labels(await open({ total: 64, finished: 20, run: { state: 'running', finishedAt: null } })), ['Cancel', 'Compare', 'Export', 'Open Template', 'Reveal']);
      assert.deepEqual((await labels(await open({ total: 64, finished: 20, run: { state: 'cancelled' } }))).slice(0, 1), ['Resume']);
    });

    it('are passed on, and show what failed', async () => {
      const page = await open({ total: 64 });
      await page.evaluate(() => window.stub.failing.set('action', 'Docker does not answer'));
      await page.getByRole('button', { name: 'Rerun', exact: true }).click();
      assert.match(await page.getByRole('alert').innerText(), /Docker does not answer/);
      assert.deepEqual(await requests(page, 'action'), [{ action: 'rerun' }]);
    });

    it('are off, with a reason, where nothing may run', async () => {
      const page = await open({ total: 64, trusted: false });
      const rerun = page.getByRole('button', { name: 'Rerun', exact: true });
      assert.equal(await rerun.getAttribute('aria-disabled'), 'true');
      assert.match((await rerun.getAttribute('aria-description'))!, /not trusted/);
      await rerun.press('Enter');
      assert.deepEqual(await requests(page, 'action'), []);
      assert.equal(await page.getByRole('button', { name: 'Export' }).getAttribute('aria-disabled'), 'false');
    });
  });

  describe('filter and order', () => {
    it('of the table come from the counts, the bars, the causes and the column heads', async () => {
      const page = await open({ total: 512 });
      await page.locator('button[data-status="error"]').click();
      await total(page, '5 of 512 episodes');
      await page.locator('button[data-status="error"]').click();
      await total(page, '512 episodes');
      await page.locator('.bar-target').first().click();
      await sees(() => page.locator('vscode-textfield input').inputValue(), 'reward>=0 reward<0.1');
      await until(page, `document.querySelector('.episode-count').textContent.includes(' of 512')`);
      await page.locator('.unscored').click();
      await total(page, '9 of 512 episodes');
      await page.locator('.unscored').click();
      await page.locator('vscode-single-select').click();
      await page.locator('vscode-single-select .option').nth(1).click();
      await page.locator('.group', { hasText: 'SandboxLost' }).click();
      await total(page, '4 of 512 episodes');
      await sees(() => page.locator('vscode-textfield input').inputValue(), 'status:error cause=SandboxLost');
    });

    it('that is not understood is said beside the input', async () => {
      const page = await open({ total: 512 });
      await page.locator('vscode-textfield input').fill('rewrad<1');
      assert.match(await page.locator('.filter-error').innerText(), /"rewrad" is not a field/);
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await page.locator('.filter-error').waitFor({ state: 'detached' });
    });

    it('puts episodes without a reward last, and goes back to the order of finishing', async () => {
      const page = await open({ total: 512 });
      const finishOrder = await firstRow(page).innerText();
      const head = page.getByRole('columnheader', { name: 'reward' });
      await head.getByRole('button').click();
      await until(page, `document.querySelector('.grid-body [aria-rowindex="2"] .cell-reward').textContent === '0.0002'`);
      assert.equal(await head.getAttribute('aria-sort'), 'ascending');
      await head.getByRole('button').click();
      await until(page, `document.querySelector('.grid-body [aria-rowindex="2"] .cell-reward').textContent === '0.9853'`);
      assert.equal(await head.getAttribute('aria-sort'), 'descending');
      await head.getByRole('button').click();
      await until(page, `document.querySelector('.grid-body [aria-rowindex="2"]').innerText === ${JSON.stringify(finishOrder)}`);
      assert.equal(await page.locator('[aria-sort="descending"]').count(), 0);
    });
  });

  it('can be used by keyboard alone', async () => {
    const page = await open({ total: 20_000 });
    const press = (...keys: string[]) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('class') ?? '');
    const inGrid = () => until(page, `document.activeElement.matches('.grid')`);
    const onTab = () => until(page, `document.activeElement.tagName === 'VSCODE-TAB-HEADER'`);
    // Rows that scroll in are there with the next picture.
    const active = (is: string) => until(page, `Number(document.getElementById(document.querySelector('.grid').getAttribute('aria-activedescendant'))?.ariaRowIndex) ${is}`);
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 40 && !(await focused()).split(' ').includes(name); presses++) await press('Tab');
      assert.ok((await focused()).split(' ').includes(name), `${name} can be reached`);
    };

    await tabTo('grid');
    await press('ArrowDown');
    await active('=== 2');
    await press('ArrowDown', 'ArrowDown', 'ArrowUp');
    await active('=== 3');
    await press('End');
    await until(page, `document.querySelector('.row.cursor:not(.loading)')?.getAttribute('aria-rowindex') === '20001'`);
    await press('PageUp');
    await active('< 19995');
    await press('Home');
    await active('=== 2');

    // Enter goes into the episode, Escape back to the row, Escape again closes.
    await press('ArrowDown', 'Enter');
    await onTab();
    assert.match((await page.locator('.pane h2').textContent())!, /^Episode \d+$/);
    await press('ArrowRight', 'Enter');
    await page.locator('.reward-table').waitFor();
    await press('Escape');
    await inGrid();
    await active('=== 3');
    // While the pane is open, it follows.
    const before = await page.locator('.pane h2').textContent();
    await press('ArrowDown');
    await until(page, `document.querySelector('.pane h2').textContent !== ${JSON.stringify(before)}`);
    await press('Escape');
    await page.locator('.pane').waitFor({ state: 'detached' });
    await inGrid();

    // The head is one stop, with arrows within.
    await press('Tab', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter');
    await sorted(page, 'reward');

    // The splitter.
    await press('ArrowDown', 'ArrowDown', 'Enter');
    await onTab();
    await page.locator('rl-splitter').focus();
    const wide = (await page.locator('rl-episode-grid').boundingBox())!.width;
    await press('ArrowLeft', 'ArrowLeft');
    await until(page, `document.querySelector('rl-splitter').ariaValueNow === '51' && document.querySelector('rl-episode-grid').getBoundingClientRect().width < ${wide - 20}`);

    // A bar of the histogram.
    await page.locator('.bar-target[tabindex="0"]').focus();
    await press('ArrowRight', 'Enter');
    await until(page, `document.querySelector('.episode-count').textContent.includes(' of ')`);

    // The filter.
    await page.locator('vscode-textfield input').focus();
    await press('Escape');
    await total(page, '20,000 episodes');
    await page.keyboard.type('status:error');
    await total(page, '190 of 20,000 episodes');
  });

  it('leaves the focus to who has taken it elsewhere before an episode is there', async () => {
    const page = await open({ total: 64 });
    await firstRow(page).click();
    await page.locator('.output').first().waitFor();
    await page.locator('.grid').press('ArrowDown');
    await page.evaluate(() => {
      document.querySelector('.grid')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      document.querySelector<HTMLElement>('rl-splitter')!.focus();
    });
    await until(page, `document.querySelector('.pane').ariaBusy === 'false' && document.querySelector('.pane h2').textContent === 'Episode ' + document.querySelector('.row.cursor .cell-episode').textContent`);
    assert.ok(await page.evaluate(`document.activeElement.matches('rl-splitter')`));
  });

  describe('text from a sandbox', () => {
    const evil = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>';
    const hostile: OpenOptions = {
      total: 4,
      run: { template: evil, policy: evil, error: evil, state: 'failed', snapshot: { id: evil, built: true, buildMs: 1 } },
      details: Object.fromEntries(
        [0, 1, 2, 3].map((episode) => [
          episode,
          {
            record: {
              status: 'error',
              cause: `${evil}\x1b[2J\u202ecod.exe`,
              reward: null,
              problem: { code: 'not-numeric', message: evil },
              components: [{ name: evil, weight: 1, value: null, detail: evil, problem: { code: evil as 'missing', message: evil } }],
              artifacts: 2,
            },
            stdout: `${evil}\n\x1b]8;;javascript:window.owned=1\x07click\x1b]8;;\x07 \x1b[31m${evil}\x1b[0m\x1b]0;title\x07\ud800\n`,
            stderr: 'x'.repeat(400_000),
            artifacts: [{ path: `${evil}\n../../etc/passwd`, size: 1 }],
            dropped: 123_456,
          },
        ]),
      ),
    };

    it('never becomes markup', async () => {
      const page = await open(hostile);
      await page.locator('vscode-single-select').click();
      await page.locator('vscode-single-select .option').nth(1).click();
      await firstRow(page).click();
      await page.locator('.output').first().waitFor();
      for (const tab of ['Reward', 'Artifacts', 'Timing']) await page.locator('vscode-tab-header', { hasText: tab }).click();
      assert.equal(await page.evaluate(() => document.querySelectorAll('rl-run-view img, rl-run-view script, rl-run-view a').length), 0);
      assert.equal(await page.evaluate(() => (window as { owned?: number }).owned), undefined);
      const output = (await page.locator('[data-stream="stdout"] .output').textContent())!;
      assert.equal(output, `${evil}\nclick ${evil}\ufffd\n`);
      assert.equal(await page.locator('[data-stream="stdout"] .output span').count(), 1);
      assert.equal(await page.locator('[data-stream="stdout"] .output span').textContent(), evil);
      assert.equal(await firstRow(page).locator('.cell-cause').textContent(), `${evil}\ufffdcod.exe`);
      assert.match((await page.locator('.artifact-name').textContent())!, /<img src=x.*\.\.\/\.\.\/etc\/passwd$/);
    });

    it('that is long is cut, and says so', async () => {
      const page = await open(hostile);
      await firstRow(page).click();
      const section = page.locator('[data-stream="stderr"]');
      await section.waitFor();
      assert.match(await page.locator('[data-stream="stdout"] .output-cut').innerText(), /123,456 bytes are not shown/);
      assert.match(await section.locator('.output-cut').innerText(), /240,000 characters in the middle are not shown here/);
      await section.getByRole('button', { name: 'Open in Editor' }).click();
      assert.deepEqual((await requests(page, 'open')).map((params) => (params as { what: string }).what), ['stderr']);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });
  });

  describe('a running run', () => {
    const running: OpenOptions = { total: 5000, finished: 2000, run: { state: 'running', finishedAt: null } };
    const rows = (page: Page) => page.locator('.grid-body .row').evaluateAll(async (elements) => {
      // What has arrived is shown with the next picture.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const grid = document.querySelector('.grid')!.getBoundingClientRect();
      const seen = elements.filter((element) => element.getBoundingClientRect().bottom > grid.top + 24 && element.getBoundingClientRect().top < grid.bottom);
      return seen.map((element) => [element.querySelector('.cell-episode')!.textContent, Math.round(element.getBoundingClientRect().top)] as const).sort((left, right) => left[1] - right[1]);
    });

    for (const column of ['finish', 'episode', 'reward'] as const) {
      it(`changes without moving rows, scroll or selection, in order of ${column}`, async () => {
        const page = await open(running);
        if (column !== 'finish') {
          await page.locator(`.grid-head .cell-${column} button`).click();
          await sorted(page, column);
        }
        await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 22_000));
        await until(page, `[...document.querySelectorAll('.grid-body .row')].every((row) => !row.matches('.loading') && Number(row.getAttribute('aria-rowindex')) > 900)`);
        await clickMiddle(page);
        await page.locator('.output').first().waitFor();
        const selected = await page.locator('.row[aria-selected="true"] .cell-episode').textContent();
        const before = await rows(page);
        for (const more of [37, 41]) {
          const expected = `${(await page.locator('.count-total').innerText()).split(' / ')[0]}`;
          await page.evaluate((count) => window.stub.finish(count), more);
          await until(page, `document.querySelector('.count-total').innerText.split(' / ')[0] !== ${JSON.stringify(expected)}`);
          await until(page, `document.querySelector('.grid').getAttribute('aria-rowcount') === String(Number(document.querySelector('.count-total').innerText.split(' / ')[0].replace(',', '')) + 1)`);
        }
        const after = await rows(page);
        assert.equal(await page.locator('.row[aria-selected="true"] .cell-episode').textContent(), selected);
        // New ones may come in between; the one that was chosen is where it was, and all that is above it in finish order too.
        const place = (list: typeof before) => list.find(([episode]) => episode === selected)![1];
        assert.equal(place(after), place(before));
        if (column === 'finish') assert.deepEqual(after, before);
        await page.locator('.grid').press('ArrowDown');
        const next = after[after.findIndex(([episode]) => episode === selected) + 1]![0];
        await until(page, `document.querySelector('.row.cursor .cell-episode').textContent === '${next}'`);
      });
    }

    it('finds the cursor again where it has gone out of sight', async () => {
      const page = await open(running);
      await page.locator('.grid-head .cell-reward button').click();
      await sorted(page, 'reward');
      await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 22_000));
      await until(page, `[...document.querySelectorAll('.grid-body .row')].every((row) => !row.matches('.loading') && Number(row.getAttribute('aria-rowindex')) > 900)`);
      await clickMiddle(page);
      const chosen = Number(await page.locator('.row.cursor .cell-reward').textContent());
      await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 0));
      await page.evaluate(() => window.stub.finish(300));
      await until(page, `document.querySelector('.grid').getAttribute('aria-rowcount') === '2301'`);
      await page.locator('.grid').press('ArrowDown');
      await until(page, `document.querySelector('.row.cursor:not(.loading)')`);
      const reward = Number(await page.locator('.row.cursor .cell-reward').textContent());
      assert.ok(reward >= chosen && reward < chosen + 0.003, `${reward} comes after ${chosen}`);
    });

    it('is painted when it changes, and not in between', async () => {
      const page = await open(running);
      const moving = `[document, ...[...document.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? [])].flatMap((root) => root.getAnimations()).length`;
      const count = await page.locator('.count-total').innerText();
      await page.evaluate(() => window.stub.finish(500));
      await until(page, `document.querySelector('.count-total').innerText !== ${JSON.stringify(count)}`);
      assert.equal(await page.evaluate(moving), 0);
    });

    it('asks for little, however often it changes', async () => {
      const page = await open(running);
      const before = (await requests(page, 'snapshot')).length;
      const began = Date.now();
      await page.evaluate(async () => {
        for (let change = 0; change < 100; change++) {
          window.stub.finish(1);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      });
      await until(page, `document.querySelector('.count-total').innerText.startsWith('2,100')`);
      const asked = (await requests(page, 'snapshot')).length - before;
      // One at once, and one for each 300 ms that all of it took.
      const most = 2 + (Date.now() - began) / 300;
      assert.ok(asked >= 1 && asked <= most, `${asked} snapshots for 100 changes, at most ${most}`);
    });

    it('ends in place', async () => {
      const page = await open(running);
      await page.evaluate(() => window.stub.finish(3000, { state: 'done', finishedAt: Date.now() }));
      await page.getByRole('button', { name: 'Rerun', exact: true }).waitFor();
      assert.equal(await page.locator('vscode-progress-bar').count(), 0);
      await total(page, '5,000 episodes');
    });
  });

  describe('where the reader was', () => {
    it('comes back after the page was gone', async () => {
      const page = await open({ total: 20_000 });
      await page.locator('vscode-textfield input').fill('status:completed');
      await until(page, `document.querySelector('.episode-count').textContent.includes(' of ')`);
      await page.locator('.grid-head .cell-reward button').click();
      await sorted(page, 'reward');
      await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 100_000));
      await until(page, `[...document.querySelectorAll('.grid-body .row')].every((row) => !row.matches('.loading') && Number(row.getAttribute('aria-rowindex')) > 4000)`);
      await clickMiddle(page);
      await page.locator('vscode-tab-header', { hasText: 'Timing' }).click();
      await page.locator('.fold').click();
      await page.locator('rl-splitter').press('ArrowLeft');
      await until(page, `document.querySelector('rl-splitter').ariaValueNow === '53' && document.querySelector('vscode-tab-header[active]').textContent.trim() === 'Timing'`);
      const facts = () => page.evaluate(() => ({
        filter: document.querySelector<HTMLInputElement>('vscode-textfield')!.value,
        scroll: document.querySelector('.grid')!.scrollTop,
        pane: document.querySelector('.pane h2')!.textContent,
        tab: document.querySelector('vscode-tab-header[active]')!.textContent.trim(),
        split: document.querySelector('rl-splitter')!.getAttribute('aria-valuenow'),
        charts: document.querySelector('.fold')!.getAttribute('aria-expanded'),
        selected: document.querySelector('.row[aria-selected="true"] .cell-episode')?.textContent,
        sorted: document.querySelector('[aria-sort="ascending"]')?.textContent?.trim(),
      }));
      const before = await facts();
      await page.reload();
      await page.locator('.row[aria-selected="true"]').waitFor();
      await page.locator('vscode-tab-header[active]').waitFor();
      await sees(facts, before);
      assert.equal(before.tab, 'Timing');
      const kept = await page.evaluate(() => JSON.parse(sessionStorage.getItem('stub-state')!) as { run: string });
      assert.equal(kept.run, '{"root":"/workspace","id":"run-14"}');
    });

    it('is not taken over by what makes no sense', async () => {
      const page = await open({ total: 100 });
      await page.evaluate(() => {
        window.addEventListener('pagehide', () => sessionStorage.setItem('stub-state', '{"view":{"filter":7,"sort":"x","split":99,"tab":null,"scrollTop":"a"}}'));
      });
      await page.reload();
      await page.locator('.grid-body .row').first().waitFor();
      await total(page, '100 episodes');
    });

    it('gives way to what a person asked to see', async () => {
      const page = await open({ total: 512, show: { episode: 341 } });
      assert.equal(await page.locator('.pane h2').textContent(), 'Episode 341');
      const filtered = await open({ total: 512, show: { filter: 'status:error' } });
      await total(filtered, '5 of 512 episodes');
      await page.evaluate(() => window.stub.show({ filter: 'status:error' }));
      await total(page, '5 of 512 episodes');
    });
  });

  describe('when the extension fails', () => {
    it('says why, and tries again when asked', async () => {
      const page = await open({ total: 64 });
      await page.evaluate(() => {
        window.stub.failing.set('snapshot', 'the run was deleted');
        window.stub.change({});
      });
      assert.match(await page.getByRole('alert').innerText(), /Failed to read the run: the run was deleted/);
      assert.equal(await firstRow(page).count(), 1);
      await page.evaluate(() => window.stub.failing.clear());
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });

    it('says so in the pane of an episode, and there alone', async () => {
      const page = await open({ total: 64 });
      await page.evaluate(() => window.stub.failing.set('episode', 'no such file'));
      await firstRow(page).click();
      assert.match(await page.getByRole('alert').innerText(), /Failed to read the episode: no such file/);
      await page.evaluate(() => window.stub.failing.clear());
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.locator('.output').first().waitFor();
    });

    it('says so when rows cannot be had', async () => {
      const page = await open({ total: 64 });
      await page.evaluate(() => window.stub.failing.set('rows', 'disk error'));
      await page.locator('.grid-head .cell-seed button').click();
      assert.match(await page.getByRole('alert').innerText(), /Failed to read the episodes: disk error/);
      await page.evaluate(() => window.stub.failing.clear());
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });
  });

  describe('widths', () => {
    for (const [width, columns] of [
      [300, ['#', 'status', 'reward']],
      [1000, ['#', 'seed', 'status', 'reward', 'steps', 'time (ms)', 'cause']],
      [2000, ['#', 'seed', 'status', 'reward', 'steps', 'time (ms)', 'cause']],
    ] as const) {
      it(`of ${width} px`, async () => {
        const page = await open({ total: 512, width });
        const shown = await page.locator('.grid-head .cell').evaluateAll((cells) => cells.filter((cell) => cell.checkVisibility()).map((cell) => cell.textContent.trim()));
        assert.deepEqual(shown, columns);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('.run-view')!.scrollWidth <= innerWidth), 'nothing sticks out');
        const boxes = await page.locator('.chart').evaluateAll((charts) => charts.map((chart) => chart.getBoundingClientRect().top));
        assert.equal(new Set(boxes).size, { 300: 4, 1000: 2, 2000: 1 }[width]);
        await firstRow(page).click();
        await page.locator('.output').first().waitFor();
        const [grid, pane] = await Promise.all(['rl-episode-grid', 'rl-episode-pane'].map(async (name) => (await page.locator(name).boundingBox())!));
        if (width >= 1000) assert.ok(pane!.x > grid!.x && pane!.y === grid!.y, 'the pane is beside the table');
        else assert.ok(pane!.y > grid!.y && pane!.x === grid!.x, 'the pane is beneath the table');
      });
    }
  });

  it('is laid out once for each place that is scrolled to', async () => {
    const page = await open({ total: 20_000 });
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const layouts = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'LayoutCount')!.value;
    const places = [5_035, 15_035, 1_035, 19_035, 9_035];
    const before = await layouts();
    for (const first of places) {
      await page.evaluate(`document.querySelector('.grid').scrollTop = ${first * 22}`);
      await until(page, `document.querySelector('.grid-body .row[aria-rowindex="${first + 2}"]:not(.loading)')`);
    }
    const count = (await layouts()) - before;
    // Twice for each, if rows were emptied when they leave and filled when they arrive.
    assert.ok(count < 2 * places.length, `${count} layouts for ${places.length} places`);
  });

  it('keeps as many rows as fit, whatever the size of the run', async () => {
    const page = await open({ total: 100_000 });
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = grid.scrollHeight));
    await until(page, `document.querySelector('[aria-rowindex="100001"]:not(.loading)')`);
    assert.ok((await page.locator('.grid-body .row').count()) < 80);
    const asked = (await requests(page, 'rows')) as { count: number }[];
    assert.ok(asked.every(({ count }) => count <= 1000) && asked.length < 8, JSON.stringify(asked));
  });
});
