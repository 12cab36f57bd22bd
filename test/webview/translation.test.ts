/** The page in a language that nobody speaks: each text of the project in double brackets, so that what is not in them was not translated. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { RunViewBrowser } from './page.js';

const HOSTILE = '</script><script>document.title = "taken"</script><!--';

async function pseudoLocale(): Promise<Record<string, string>> {
  const texts = JSON.parse(await readFile('l10n/bundle.l10n.json', 'utf8')) as Record<string, string | { message: string }>;
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, `\u27e6${typeof text === 'string' ? text : text.message}\u27e7`]));
}

/** What a person sees or hears on the page. A function of the page. */
function texts(): string[] {
  const walker = document.createTreeWalker(document.querySelector('.run-view')!, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  const found: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element) found.push(...['aria-label', 'aria-description', 'title', 'placeholder'].map((name) => node.getAttribute(name) ?? ''));
    else if (!node.parentElement?.closest('pre, style')) found.push(node.nodeValue ?? '');
  }
  return found;
}

/** A text without what is in brackets, from the innermost on. */
function outside(text: string): string {
  const rest = text.replace(/\u27e6[^\u27e6\u27e7]*\u27e7/g, '');
  return rest === text ? text : outside(rest);
}

/** Of the made-up run: names, paths, what its verifier said; and what is the same in every language: units, the words of a filter, a time and its day. */
const DATA = [
  /^(: )?\/workspace\/code-repair\.rlenv\.yaml$/, /^(code-repair|docker|8f31c2a07be1|script|tests_passed|style|2 of 8 tests passed)$/, /^(workspace|logs)\//, /^OperationTimeout: /,
  /^[\d.,]+ (ms|s|min|B|KB|MB)$/, /^(\w+ \d+, \d{4} )?\d\d:\d\d( [AP]M)?$/, /^tests_passed \d+ %, style \d+ %$/, /^(status|seed|cause|reward|time)[:<>]\S+$/, /^"no space"$/,
  // Kinds of files are called as their names end.
  /^(patch|json)$/,
];

const untranslated = (all: readonly string[]) => [...new Set(all.map((text) => outside(text).trim()))].filter((text) => /\p{L}{2,}/u.test(text) && !DATA.some((known) => known.test(text)));

describe('run view in another language', function () {
  this.timeout(120_000);
  let browser: RunViewBrowser;
  before(async () => (browser = await RunViewBrowser.launch()));
  after(() => browser.close());

  it('has no text that is not translated', async () => {
    const { page, complaints } = await browser.open({ total: 512, run: { samples: 2 }, bundle: await pseudoLocale() });
    await page.locator('.grid-body .row').nth(3).click();
    await page.locator('vscode-tab-header').first().waitFor();
    for (const tab of await page.locator('vscode-tab-header').all()) {
      await tab.click();
      assert.deepEqual(untranslated(await page.evaluate(texts)), []);
    }
    assert.deepEqual(complaints, []);
  });

  it('takes translations for data, whatever they say', async () => {
    const { page, complaints } = await browser.open({ total: 8, bundle: { ...(await pseudoLocale()), Episodes: HOSTILE } });
    assert.equal(await page.locator('.grid').getAttribute('aria-label'), HOSTILE);
    assert.equal(await page.title(), 'Page');
    assert.deepEqual(complaints, []);
  });
});
