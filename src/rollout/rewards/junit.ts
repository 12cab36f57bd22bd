import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { fail, quote } from './failure.js';
import type { RewardKind } from './kind.js';
import { type TestCounts, readReport, shareOfTests } from './tests.js';

/** Parsing takes about 150 ms for each MiB, in which the engine does nothing else. */
const MAX_BYTES = 4 << 20;

/** What a test says of itself where it has no `skipped` element: GoogleTest and CTest do. */
const NOT_RUN = /^(notrun|disabled|skipped)$/i;

/** Share of the test cases of a JUnit XML report that passed. */
export const junit: RewardKind<'junit'> = async (spec, context) => shareOfTests(countJunit(await readReport(spec, context, MAX_BYTES), spec.path), spec.path);

type Node = Readonly<Record<string, Node[]>> & { readonly ':@'?: Readonly<Record<string, string>> };

const nameOf = (node: Node): string => Object.keys(node).find((key) => key !== ':@') ?? '';

/**
 * Counts test cases in `testsuites` and `testsuite` elements, nested as they may be. One with `failure` or `error` has not passed; summary
 * attributes are not read. Throws `RewardFailure` (not-numeric).
 */
export function countJunit(xml: string, path: string): TestCounts {
  const roots = parse(xml, path).filter((node) => !/^[?#]/.test(nameOf(node)));
  const [root] = roots;
  if (!root || roots.length > 1 || !/^testsuites?$/.test(nameOf(root))) fail('not-numeric', `${path} is not a JUnit report: its root is not one testsuites or testsuite element`);
  return count(root);
}

function parse(xml: string, path: string): Node[] {
  const valid = XMLValidator.validate(xml);
  if (valid !== true) fail('not-numeric', `${path} is not well-formed XML, line ${valid.err.line}: ${quote(valid.err.msg)}`);
  // Entities stay as they are written: none is needed to count, and expanding them is an attack.
  const parser = new XMLParser({ preserveOrder: true, removeNSPrefix: true, processEntities: false, parseTagValue: false, ignoreAttributes: (name) => name !== 'status' });
  try {
    return parser.parse(xml) as Node[];
  } catch (error) {
    fail('not-numeric', `${path} cannot be read as XML: ${quote((error as Error).message)}`);
  }
}

function count(suite: Node): TestCounts {
  let [passed, notPassed, skipped] = [0, 0, 0];
  for (const child of suite[nameOf(suite)]!) {
    const name = nameOf(child);
    if (name === 'testsuite') {
      const inner = count(child);
      passed += inner.passed;
      notPassed += inner.notPassed;
      skipped += inner.skipped;
    } else if (name === 'testcase') {
      const marks = new Set(child[name]!.map(nameOf));
      if (marks.has('failure') || marks.has('error')) notPassed += 1;
      else if (marks.has('skipped') || NOT_RUN.test(child[':@']?.['@_status'] ?? '')) skipped += 1;
      else passed += 1;
    }
  }
  return { passed, notPassed, skipped };
}
