/**
 * Mocha's reporter for `npm test`: writes events to the file that the environment variable names and prints nothing, so that tests
 * in a plain Node and tests inside VS Code are shown by the same code.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha, { type Runnable, type Runner } from 'mocha';
import type { TestEvent } from './results.js';
import { skipReason } from './skip.js';

export const RESULTS_VARIABLE = 'RL_TEST_RESULTS';
/** How often a test that fails is tried again. */
export const RETRIES_VARIABLE = 'RL_TEST_RETRIES';

type AssertionLike = Error & { actual?: unknown; expected?: unknown; showDiff?: boolean; generatedMessage?: boolean };

const text = (value: unknown): string => (typeof value === 'string' ? value : Mocha.utils.stringify(value));

/** Message, difference where both sides are known, and the part of the stack that is ours. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${text(error)}`;
  const { actual, expected, showDiff, generatedMessage } = error as AssertionLike;
  const comparable = showDiff !== false && expected !== undefined && typeof actual === typeof expected;
  const difference = comparable ? Mocha.reporters.Base.generateDiff(text(actual), text(expected)) : '';
  // Node's own messages hold a shortened difference below their first line.
  const message = difference && generatedMessage ? error.message.split('\n')[0]! : error.message;
  const stack = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && !/node_modules|node:internal/.test(line));
  const cause = error.cause === undefined ? '' : `caused by ${explain(error.cause)}`;
  return [`${error.name}: ${message}`, difference, ...stack, cause].filter((part) => part.trim()).join('\n');
}

export default class ResultsReporter extends Mocha.reporters.Base {
  constructor(runner: Runner) {
    super(runner);
    const file = process.env[RESULTS_VARIABLE];
    if (!file) throw new Error(`${RESULTS_VARIABLE} names no file`);
    Mocha.reporters.Base.useColors = false;
    const write = (event: TestEvent) => appendFileSync(file, `${JSON.stringify(event)}\n`);
    const about = (runnable: Runnable) => ({ title: runnable.fullTitle(), file: runnable.file && relative(process.cwd(), runnable.file), ms: Math.round(runnable.duration ?? 0) });
    runner.on('test', (test) => write({ type: 'start', title: test.fullTitle() }));
    runner.on('pass', (test) => write({ type: 'pass', ...about(test) }));
    runner.on('fail', (test, error) => write({ type: 'fail', ...about(test), error: explain(error) }));
    runner.on('retry', (test: Runnable, error: unknown) => write({ type: 'retry', ...about(test), error: explain(error) }));
    runner.on('pending', (test) => {
      const reason = skipReason(test);
      write(reason ? { type: 'skip', ...about(test), reason } : { type: 'fail', ...about(test), error: 'skipped without a reason' });
    });
    runner.on('end', () => write({ type: 'end' }));
  }
}
