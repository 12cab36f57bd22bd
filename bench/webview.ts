/**
 * How soon the run view shows a run, and how smoothly its table scrolls: `npx tsx bench/webview.ts [episodes] [ms that reading takes] [samples]` prints one line of JSON. The
 * page runs alone in Chromium, over a made-up run; what is measured is the page, from the moment the extension could answer it.
 */
import { RunViewBrowser } from '../test/webview/page.js';
import { median } from './measure.js';
import { scroll } from './scroll.js';

export interface RunViewFigures {
  /** From the start of the page's loading (with the run at hand) to the first picture with rows in it, ms. */
  readonly firstPaintMs: number;
  /** From a click on the head of a column, and on a count by status, to the picture with the rows, ms: the slowest column, and the slowest status. */
  readonly sortMs: number;
  readonly filterMs: number;
  /** The longest time between two frames while the table scrolls from top to end, by wheel and by jumps, ms. */
  readonly longestFrameMs: number;
  /** Processor time of the page's thread for one frame of that, ms: the mean of all, which other programs hardly change. */
  readonly frameWorkMs: number;
}

const ROUNDS = 3;

const WATCH_FIRST_PAINT = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.grid-body .row:not(.loading) .cell-episode')?.textContent) return;
    observer.disconnect();
    // The second frame begins when the first has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('rows-painted')));
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });`;

/** Clicks what changes the table, and waits for the picture with the rows that come of it. */
const ANSWERED = (selector: string) => `(async () => {
  const times = [];
  for (const target of document.querySelectorAll('${selector}')) {
    times.push(await new Promise((resolve) => {
      const start = performance.now();
      const onMessage = ({ data }) => {
        if (!data.result?.rows) return;
        removeEventListener('message', onMessage);
        // The second frame begins when the first has been painted.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
      };
      addEventListener('message', onMessage);
      target.click();
    }));
  }
  return Math.max(...times);
})()`;

/** Medians of a few rounds, each in a page of its own. `readsForMs`: how long the engine takes to read the run, as the page comes up. */
export async function measureRunView(episodes: number, { readsForMs, samples = 1 }: { readonly readsForMs?: number; readonly samples?: number } = {}): Promise<RunViewFigures> {
  const browser = await RunViewBrowser.launch();
  const rounds: RunViewFigures[] = [];
  try {
    // One round more, to warm up the browser and the machine's caches.
    for (let round = 0; round <= ROUNDS; round++) {
      const { page } = await browser.open({ total: episodes, readsForMs, run: { samples, seeds: { first: 0, last: episodes / samples - 1 } }, script: WATCH_FIRST_PAINT });
      const firstPaintMs = await page.evaluate<number>(`new Promise((resolve) => {
        const look = () => {
          const [painted] = performance.getEntriesByName('rows-painted');
          if (painted) resolve(painted.startTime - performance.getEntriesByName('host-ready')[0].startTime);
          else setTimeout(look, 10);
        };
        look();
      })`);
      const scrolling = await scroll(page, '.grid', '.grid-body .row:not(.loading)');
      const sortMs = await page.evaluate<number>(ANSWERED('.grid-head button'));
      const filterMs = await page.evaluate<number>(ANSWERED('.counts [data-status]'));
      await page.context().close();
      if (round > 0) rounds.push({ firstPaintMs, sortMs, filterMs, ...scrolling });
    }
  } finally {
    await browser.close();
  }
  const middle = (figure: keyof RunViewFigures): number => median(rounds.map((round) => round[figure]));
  return { firstPaintMs: middle('firstPaintMs'), sortMs: middle('sortMs'), filterMs: middle('filterMs'), longestFrameMs: middle('longestFrameMs'), frameWorkMs: middle('frameWorkMs') };
}

if (process.argv[1]?.endsWith('webview.ts')) {
  measureRunView(Number(process.argv[2] ?? 20_000), { readsForMs: Number(process.argv[3] ?? 0), samples: Number(process.argv[4] ?? 1) }).then(
    (figures) => console.log(JSON.stringify(figures)),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}
