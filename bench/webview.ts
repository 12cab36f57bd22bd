/**
 * How soon the run view shows a run, and how smoothly its table scrolls: `npx tsx bench/webview.ts [episodes]` prints one line of JSON. The
 * page runs alone in Chromium, over a made-up run; what is measured is the page, from the moment the extension could answer it.
 */
import { RunViewBrowser } from '../test/webview/page.js';
import { median } from './measure.js';
import { scroll } from './scroll.js';

export interface RunViewFigures {
  /** From the start of the page's loading (with the run at hand) to the first picture with rows in it, ms. */
  readonly firstPaintMs: number;
  /** The longest time between two frames while the table scrolls from top to end, by wheel and by jumps, ms. */
  readonly longestFrameMs: number;
  /** Processor time of the page's thread for one frame of that, ms: the mean of all, which other programs hardly change. */
  readonly frameWorkMs: number;
}

const ROUNDS = 5;

const WATCH_FIRST_PAINT = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.grid-body .row:not(.loading) .cell-episode')?.textContent) return;
    observer.disconnect();
    // The second frame begins when the first has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('rows-painted')));
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });`;

/** Medians of a few rounds, each in a page of its own. */
export async function measureRunView(episodes: number): Promise<RunViewFigures> {
  const browser = await RunViewBrowser.launch();
  const rounds: RunViewFigures[] = [];
  try {
    // One round more, to warm up the browser and the machine's caches.
    for (let round = 0; round <= ROUNDS; round++) {
      const { page } = await browser.open({ total: episodes, script: WATCH_FIRST_PAINT });
      const firstPaintMs = await page.evaluate<number>(`new Promise((resolve) => {
        const look = () => {
          const [painted] = performance.getEntriesByName('rows-painted');
          if (painted) resolve(painted.startTime - performance.getEntriesByName('host-ready')[0].startTime);
          else setTimeout(look, 10);
        };
        look();
      })`);
      const scrolling = await scroll(page, '.grid', '.grid-body .row:not(.loading)');
      await page.context().close();
      if (round > 0) rounds.push({ firstPaintMs, ...scrolling });
    }
  } finally {
    await browser.close();
  }
  const middle = (figure: keyof RunViewFigures): number => median(rounds.map((round) => round[figure]));
  return { firstPaintMs: middle('firstPaintMs'), longestFrameMs: middle('longestFrameMs'), frameWorkMs: middle('frameWorkMs') };
}

if (process.argv[1]?.endsWith('webview.ts')) {
  measureRunView(Number(process.argv[2] ?? 20_000)).then(
    (figures) => console.log(JSON.stringify(figures)),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}
