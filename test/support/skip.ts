/** Skips with a reason: the reporter prints it, and counts a skip without one as a failure. */
import type { Context, Test } from 'mocha';

const REASON = Symbol.for('rl-sandboxes.skip-reason');
type Marked = { [REASON]?: string; type?: string; parent?: Marked };

/** Skips the running test, or from a `before` hook all tests of its suite. Does not return. */
export function skip(context: Context, reason: string): never {
  const runnable: Marked = context.runnable();
  const marked = runnable.type === 'hook' ? runnable.parent! : runnable;
  marked[REASON] = reason;
  return context.skip();
}

/** Why a test was skipped, if it said so itself or a hook of a suite around it did. */
export function skipReason(test: Test): string | undefined {
  for (let node: Marked | undefined = test; node; node = node.parent) if (node[REASON]) return node[REASON];
  return undefined;
}
