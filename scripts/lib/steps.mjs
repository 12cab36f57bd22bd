// One quiet line for each step of a setup: what it did and how long it took. What a step prints is shown only if it fails.
import { performance } from 'node:perf_hooks';

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** A failure that has been explained already: whoever catches it exits without a stack trace. */
export class StepFailed extends Error {}

/**
 * Runs `work` and prints one line for it. On a terminal the line is there while it runs.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const live = process.stderr.isTTY;
  const started = performance.now();
  if (live) process.stderr.write(`${title} ...`);
  try {
    const result = await work();
    process.stderr.write(`${live ? '\r' : ''}${title}  ${seconds(performance.now() - started)}\n`);
    return result;
  } catch (error) {
    process.stderr.write(`${live ? '\r' : ''}${title}  failed after ${seconds(performance.now() - started)}\n`);
    if (error.output) process.stderr.write(`${error.output.trimEnd()}\n`);
    throw new StepFailed(`${title}: ${error.message}`, { cause: error });
  }
}
