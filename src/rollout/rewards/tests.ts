/** What the two kinds of test report have in common. */
import { fail } from './failure.js';
import type { RewardContext, RewardValue, SpecOf } from './kind.js';
import { readText } from './sandboxFile.js';
import { verify } from './verifier.js';

export interface TestCounts {
  readonly passed: number;
  /** Everything that ran and did not pass. */
  readonly notPassed: number;
  /** Not counted at all. */
  readonly skipped: number;
}

/**
 * Runs the verifier if there is one, and reads the report that it or the episode left. A test runner's exit code says whether tests failed, as the
 * report does; it counts only where there is no report. Throws `RewardFailure`.
 */
export async function readReport(spec: SpecOf<'junit'> | SpecOf<'ctrf'>, context: RewardContext, maxBytes: number): Promise<string> {
  const verdict = await verify(spec, context, { stale: [spec.path] });
  const report = await readText(context, spec.path, { maxBytes, timeoutMs: spec.timeout });
  if (report !== undefined && report.trim() !== '') return report;
  if (verdict && verdict.code !== 0) fail('verifier-failed', `the verifier ended with exit code ${verdict.code} and left no report ${spec.path}${verdict.lastWords}`);
  return report === undefined ? fail('missing', `there is no report ${spec.path}`) : fail('empty', `the report ${spec.path} is empty`);
}

/** Share of tests that passed, of those that ran. Throws `RewardFailure` (empty). */
export function shareOfTests({ passed, notPassed, skipped }: TestCounts, path: string): RewardValue {
  const ran = passed + notPassed;
  if (ran === 0) fail('empty', skipped ? `none of the ${skipped} tests in ${path} ran: all were skipped` : `there is no test in ${path}`);
  return { value: passed / ran, detail: `${passed} of ${ran} tests passed${skipped ? `, ${skipped} skipped` : ''}` };
}
