import assert from 'node:assert/strict';
import { csvRows } from '../../webview/csv.js';
import { findings } from './axe.js';
import { type OpenPage, RunViewBrowser, until } from './page.js';

const FILES = {
  'metrics.csv': 'step,loss,note\n1,0.5,"a ""quoted"", text"\n2,0.25,<img src=x onerror=alert(1)>\n',
  'log.txt': '<script>window.owned = 1</script>\nsecond line\n',
  'core.bin': 'a\0b',
  'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg" onload="window.owned=1"/>',
};
const ARTIFACTS = [...Object.keys(FILES), 'plots/loss.png', 'run.mp4'].map((path) => ({ path, size: 1834 }));
const OPTIONS = { total: 64, files: FILES, details: { 1: { record: { artifacts: ARTIFACTS.length }, artifacts: ARTIFACTS } } };

describe('artifacts in the pane of an episode', function () {
  this.timeout(120_000);
  let browser: RunViewBrowser;
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());

  const open = async (): Promise<OpenPage> => {
    const opened = await browser.open({ ...OPTIONS, show: { episode: 1 }, width: 1400 });
    await opened.page.locator('vscode-tab-header', { hasText: 'Artifacts' }).click();
    await opened.page.locator('.artifact-preview .csv').waitFor();
    return opened;
  };

  it('are previewed as what they are, and never as markup, by keyboard', async () => {
    const { page, complaints } = await open();
    assert.deepEqual(await page.locator('.csv tr').allTextContents().then((rows) => rows.map((row) => row.trim())), ['steplossnote', '10.5a "quoted", text', '20.25<img src=x onerror=alert(1)>']);
    assert.deepEqual(await findings(page), []);
    await page.locator('.artifact').first().focus();
    await page.keyboard.press('ArrowDown');
    await until(page, `document.querySelector('.artifact-preview pre')?.textContent.startsWith('<script>')`);
    await page.keyboard.press('ArrowDown');
    await until(page, `document.querySelector('.artifact-preview').textContent.includes('The file is no text.')`);
    await page.keyboard.press('ArrowDown');
    await until(page, `document.querySelector('.artifact-preview pre')?.textContent.startsWith('<svg')`);
    await page.keyboard.press('ArrowDown');
    await until(page, `document.querySelector('.artifact-preview img')?.naturalWidth === 320`);
    assert.deepEqual(complaints, []);
    await page.keyboard.press('ArrowDown');
    // What a film says it is and is not.
    await until(page, `document.querySelector('.artifact-preview').textContent.includes('it is not what its name says')`);
    assert.equal(await page.evaluate('window.owned'), undefined);
    await page.context().close();
  });

  it('are opened, compared and saved by request, and one that cannot be read says so', async () => {
    const { page } = await open();
    for (const name of ['Open', 'Compare…', 'Save All…']) await page.locator('.artifact-actions').getByRole('button', { name, exact: true }).click();
    const asked = `stub.requests.filter(({ method }) => ['open', 'compareArtifact', 'saveArtifacts'].includes(method)).map(({ method, params }) => [method, params])`;
    await until(page, `${asked}.length === 3`);
    assert.deepEqual(await page.evaluate(asked), [['open', { episode: 1, artifact: 'metrics.csv' }], ['compareArtifact', { episode: 1, artifact: 'metrics.csv' }], ['saveArtifacts', { episode: 1 }]]);
    await page.evaluate(`stub.failing.set('artifact', 'the file is not among the artifacts of the episode')`);
    await page.locator('.artifact').nth(1).click();
    await page.locator('.artifact-preview [role="alert"]').waitFor();
    await page.context().close();
  });

  it('asks for no file while another tab is in front', async () => {
    const { page } = await browser.open({ ...OPTIONS, show: { episode: 1 } });
    await page.locator('rl-episode-output .output').first().waitFor();
    assert.equal(await page.evaluate(`stub.requests.some(({ method }) => method === 'artifact')`), false);
    await page.context().close();
  });
});

describe('findings in the run view', function () {
  this.timeout(60_000);

  it('are said above the figures, and fold away', async () => {
    const browser = await RunViewBrowser.launch();
    try {
      const { page } = await browser.open({ total: 64, run: { policy: 'noop' } });
      assert.match((await page.locator('.findings li').textContent())!, /Nothing was done, and the mean reward is 0\.\d{4}: the verifier is content without a solution\./);
      await page.locator('.findings summary').focus();
      await page.keyboard.press('Enter');
      await until(page, `!document.querySelector('.findings').open`);
      assert.deepEqual(await findings(page), []);
    } finally {
      await browser.close();
    }
  });
});

describe('rows of a table', () => {
  it('are those of RFC 4180, of tabs, and of what a person wrote', () => {
    assert.deepEqual(csvRows('a,b\r\n"1\n2","say ""x"""\r\n', ',', 10), [['a', 'b'], ['1\n2', 'say "x"']]);
    assert.deepEqual(csvRows('a\tb\n1,2\t', '\t', 10), [['a', 'b'], ['1,2', '']]);
    assert.deepEqual(csvRows('a,,\n\nb', ',', 10), [['a', '', ''], [''], ['b']]);
    assert.deepEqual(csvRows('a\nb\nc', ',', 2), [['a'], ['b']]);
    // Cut in the middle of a field.
    assert.deepEqual(csvRows('a\n"b', ',', 10), [['a']]);
    assert.deepEqual(csvRows('', ',', 10), []);
  });
});
