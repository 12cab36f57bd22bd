/**
 * How soon the trace view shows a trace of a million steps, and how smoothly its list scrolls: `npx tsx bench/traceView.ts [steps]` prints one line
 * of JSON. The page runs alone in Chromium, over a made-up trace; what is measured is the page, from the moment the extension could answer it.
 */
import type { Page } from 'playwright-core';
import { until } from '../test/webview/page.js';
import { TraceViewBrowser } from '../test/webview/traceView/page.js';
import { median } from './measure.js';
import { scroll } from './scroll.js';

export interface TraceViewFigures {
  /** From the start of the page's loading to the first picture with a step in it, ms. */
  readonly firstStepMs: number;
  /** From a key to the picture of another step, anywhere in the trace: the median of many, and the slowest, ms. */
  readonly anyStepMs: number;
  readonly slowestStepMs: number;
  /** The longest time between two frames while the list scrolls from end to end, by wheel and by jumps, and the page's work for one of them, ms. */
  readonly longestFrameMs: number;
  readonly frameWorkMs: number;
  /** Memory of the page's script after all of it, once the garbage is gone, bytes. */
  readonly heapBytes: number;
}

const ROUNDS = 3;
const JUMPS = 20;

/** Marks the first picture of a step; resolves with the time at which the step that is asked for next can be seen. */
const WATCH = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.step[aria-busy="false"] .block')) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('step-painted')));
  }).observe(document, { childList: true, subtree: true, attributes: true });
  window.seen = (step) => new Promise((resolve) => {
    const look = () => {
      const shown = document.querySelector('.step[aria-busy="false"] .step-label')?.textContent === String(step);
      requestAnimationFrame((now) => shown ? resolve(now) : look());
    };
    look();
  });`;

async function jump(page: Page, step: number): Promise<number> {
  return page.evaluate<number, number>((target) => {
    const begin = performance.now();
    window.traceStub.notify('show', { step: target });
    return (window as unknown as { seen(step: number): Promise<number> }).seen(target).then((end) => end - begin);
  }, step);
}

/** Medians of a few rounds, each in a page of its own. */
export async function measureTraceView(steps: number): Promise<TraceViewFigures> {
  const browser = await TraceViewBrowser.launch();
  const rounds: TraceViewFigures[] = [];
  try {
    // One round more, to warm up the browser and the machine's caches.
    for (let round = 0; round <= ROUNDS; round++) {
      const { page } = await browser.open({ steps, start: Math.floor(steps / 2), script: WATCH });
      await until(page, `performance.getEntriesByName('step-painted').length > 0`);
      const firstStepMs = await page.evaluate<number>(`performance.getEntriesByName('step-painted')[0].startTime - performance.getEntriesByName('host-ready')[0].startTime`);
      const times: number[] = [];
      for (let at = 0; at < JUMPS; at++) times.push(await jump(page, Math.floor((steps * ((at * 7) % JUMPS)) / JUMPS) + at));
      const scrolled = await scroll(page, '.step-list', '.step-row:not(.loading)');
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      await page.context().close();
      if (round > 0) rounds.push({ firstStepMs, anyStepMs: median(times), slowestStepMs: Math.max(...times), ...scrolled, heapBytes: usedSize });
    }
  } finally {
    await browser.close();
  }
  const of = (key: keyof TraceViewFigures) => median(rounds.map((round) => round[key]));
  return { firstStepMs: of('firstStepMs'), anyStepMs: of('anyStepMs'), slowestStepMs: of('slowestStepMs'), longestFrameMs: of('longestFrameMs'), frameWorkMs: of('frameWorkMs'), heapBytes: of('heapBytes') };
}

if (process.argv[1]?.endsWith('traceView.ts')) {
  measureTraceView(Number(process.argv[2] ?? 1_000_000)).then(
    (figures) => console.log(JSON.stringify(figures)),
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}
