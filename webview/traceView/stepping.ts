/** Stepping as a debugger does it: a subagent's steps are inside of the step that started it. */
import type { StepSummary } from '../../src/protocol/traceView.js';

type Fetch = (from: number, to: number) => Promise<readonly StepSummary[]>;

const CHUNK = 200;

/** The next step in a direction that is not deeper; the end, if there is none. */
export async function over(fetch: Fetch, from: number, direction: 1 | -1, total: number): Promise<number> {
  const depth = await depthOf(fetch, from);
  return find(fetch, from, direction, total, (step) => (step.depth ?? 0) <= depth);
}

/** The next step of the agent that started the subagent; the next step, where there is no subagent. */
export async function out(fetch: Fetch, from: number, total: number): Promise<number> {
  const depth = await depthOf(fetch, from);
  return depth === 0 ? Math.min(total - 1, from + 1) : find(fetch, from, 1, total, (step) => (step.depth ?? 0) < depth);
}

async function depthOf(fetch: Fetch, index: number): Promise<number> {
  const [step] = await fetch(index, index + 1);
  return step?.depth ?? 0;
}

async function find(fetch: Fetch, from: number, direction: 1 | -1, total: number, fits: (step: StepSummary) => boolean): Promise<number> {
  for (let at = from + direction; at >= 0 && at < total; ) {
    const [low, high] = direction === 1 ? [at, Math.min(total, at + CHUNK)] : [Math.max(0, at - CHUNK + 1), at + 1];
    const steps = await fetch(low, high);
    const found = direction === 1 ? steps.find(fits) : steps.findLast(fits);
    if (found) return found.index;
    at += direction * CHUNK;
  }
  return direction === 1 ? total - 1 : 0;
}
