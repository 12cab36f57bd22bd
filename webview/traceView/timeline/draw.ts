/** The timeline as a picture. */
import type { StepKind, TimelineBin } from '../../../src/protocol/traceView.js';
import { type Rgb, css, mix } from '../../colour.js';
import type { Theme } from '../../theme.js';

/** px: the line of rewards, the errors, the steps. */
export const HEIGHT = 42;
const REWARD = { top: 2, bottom: 17 };
const STEPS = { top: 21, bottom: 35 };

/** Colours of the kinds in the theme; the same are in timeline.css for the legend. */
export function colours(theme: Theme): Readonly<Record<StepKind, Rgb>> {
  const faint = mix(theme.foreground, theme.background, 0.4);
  return {
    message: faint,
    model: theme.colour('charts-blue', [55, 148, 255]),
    tool: theme.colour('charts-purple', [177, 128, 215]),
    action: theme.colour('charts-purple', [177, 128, 215]),
    reset: faint,
    verifier: theme.colour('charts-green', [137, 209, 133]),
    error: theme.colour('charts-red', [241, 76, 76]),
  };
}

export function draw(canvas: HTMLCanvasElement, width: number, bins: readonly TimelineBin[], theme: Theme): void {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, HEIGHT);
  const end = bins.at(-1)?.to ?? 0;
  if (end <= 0) return;
  const x = (at: number) => (at / end) * width;
  drawSteps(context, bins, x, theme);
  drawReward(context, bins, x, theme);
}

function drawSteps(context: CanvasRenderingContext2D, bins: readonly TimelineBin[], x: (at: number) => number, theme: Theme): void {
  const byKind = colours(theme);
  const error = theme.colour('charts-red', [241, 76, 76]);
  context.fillStyle = css(mix(theme.foreground, theme.background, 0.12));
  context.fillRect(0, STEPS.bottom - 1, x(bins.at(-1)!.to), 1);
  for (const { from, to, kind } of bins) {
    const left = x(from);
    const width = x(to) - left;
    context.fillStyle = css(byKind[kind], theme.highContrast ? 1 : 0.8);
    // A line of background between steps that are wide enough to be told apart.
    context.fillRect(left, STEPS.top, Math.max(1, width > 4 ? width - 1 : width), STEPS.bottom - STEPS.top);
  }
  context.fillStyle = css(error);
  for (const bin of bins) {
    if (!bin.error) continue;
    const left = x(bin.from);
    context.fillRect(left, STEPS.bottom + 2, Math.max(3, x(bin.to) - left - 1), 3);
  }
}

/** Steps up or down where the reward moved; its least and greatest value at the bottom and at the top, 0 always among them. */
function drawReward(context: CanvasRenderingContext2D, bins: readonly TimelineBin[], x: (at: number) => number, theme: Theme): void {
  const rewards = bins.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
  if (rewards.length === 0) return;
  let low = 0;
  let high = 0;
  for (const reward of rewards) {
    low = Math.min(low, reward);
    high = Math.max(high, reward);
  }
  const y = (reward: number) => (high === low ? REWARD.bottom : REWARD.bottom - ((reward - low) / (high - low)) * (REWARD.bottom - REWARD.top));
  context.strokeStyle = css(mix(theme.foreground, theme.background, 0.2));
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, Math.round(y(0)) + 0.5);
  context.lineTo(x(bins.at(-1)!.to), Math.round(y(0)) + 0.5);
  context.stroke();
  context.strokeStyle = css(theme.foreground);
  context.lineWidth = 1.5;
  context.beginPath();
  let last: number | undefined;
  for (const { from, to, reward } of bins) {
    if (reward === undefined) continue;
    if (last === undefined) context.moveTo(x(from), y(0));
    context.lineTo(x(last === undefined ? from : to), y(last ?? 0));
    context.lineTo(x(to), y(reward));
    last = reward;
  }
  context.stroke();
}
