import { fail, quote } from './failure.js';
import type { RewardKind } from './kind.js';
import { type TestCounts, readReport, shareOfTests } from './tests.js';

const MAX_BYTES = 16 << 20;

const STATUSES = ['passed', 'failed', 'skipped', 'pending', 'other'] as const;
type Counts = Record<(typeof STATUSES)[number] | 'tests', number>;

/** Share of the tests of a CTRF report that passed. */
export const ctrf: RewardKind<'ctrf'> = async (spec, context) => shareOfTests(countCtrf(await readReport(spec, context, MAX_BYTES), spec.path), spec.path);

/**
 * Counts the list of tests of a report in the Common Test Report Format (ctrf.io): `skipped` and `pending` ones did not run, `other` ones
 * have not passed. The summary must agree with the list. Throws `RewardFailure`: not-numeric, conflicting.
 */
export function countCtrf(text: string, path: string): TestCounts {
  const { results } = parseObject(text, path);
  const { summary, tests } = isObject(results) ? results : {};
  if (!isObject(summary) || !Array.isArray(tests)) fail('not-numeric', `${path} is not a CTRF report: it has no results with a summary and a list of tests`);
  const counted: Counts = { tests: tests.length, passed: 0, failed: 0, skipped: 0, pending: 0, other: 0 };
  for (const test of tests as unknown[]) {
    const status = isObject(test) ? test.status : undefined;
    const known = STATUSES.find((name) => name === status);
    if (!known) fail('not-numeric', `${path} is not a CTRF report: a test has the status ${quote(String(JSON.stringify(status)))}, not one of ${STATUSES.join(', ')}`);
    counted[known] += 1;
  }
  for (const key of ['tests', ...STATUSES] as const)
    if (summary[key] !== counted[key]) fail('conflicting', `the summary of ${path} says ${key}: ${quote(String(JSON.stringify(summary[key])))}, but its list of tests has ${counted[key]}`);
  return { passed: counted.passed, notPassed: counted.failed + counted.other, skipped: counted.skipped + counted.pending };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string, path: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    fail('not-numeric', `${path} is not JSON: ${quote((error as Error).message)}`);
  }
  return isObject(json) ? json : {};
}
