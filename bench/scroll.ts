/** How smoothly a list of a page scrolls. */
import type { CDPSession, Page } from 'playwright-core';

export interface Scrolled {
  /** The longest time between two frames, ms. */
  readonly longestFrameMs: number;
  /** Processor time of the page's thread for one frame, ms: the mean of all, which other programs hardly change. */
  readonly frameWorkMs: number;
}

const WATCH_FRAMES = `
  window.frames_ = { longest: 0, count: 0, last: performance.now(), on: true };
  requestAnimationFrame(function frame(now) {
    frames_.count++;
    frames_.longest = Math.max(frames_.longest, now - frames_.last);
    frames_.last = now;
    if (frames_.on) requestAnimationFrame(frame);
  });`;

/** Seconds that the page's thread has worked. */
async function threadTime(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

/** Scrolls a list from its top to its end, by wheel and by jumps. `rows`: there once the list has caught up. */
export async function scroll(page: Page, list: string, rows: string): Promise<Scrolled> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const { x, y, width, height } = (await page.locator(list).boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  const before = await threadTime(session);
  await page.evaluate(`${WATCH_FRAMES} frames_.last = performance.now();`);
  for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, turn % 2 ? 700 : 4000);
  for (const share of [0.3, 0.9, 0.1, 0.6, 1]) {
    await page.evaluate(`document.querySelector('${list}').scrollTop = ${share} * document.querySelector('${list}').scrollHeight`);
    await page.waitForSelector(rows);
  }
  const { longest, count } = await page.evaluate<{ longest: number; count: number }>('frames_.on = false, frames_');
  return { longestFrameMs: longest, frameWorkMs: ((await threadTime(session)) - before) * (1000 / count) };
}
