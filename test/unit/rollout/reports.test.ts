import { strict as assert } from 'node:assert';
import { countCtrf } from '../../../src/rollout/rewards/ctrf.js';
import { countJunit } from '../../../src/rollout/rewards/junit.js';
import { shareOfTests } from '../../../src/rollout/rewards/tests.js';
import { assertFails } from './failures.js';

describe('a JUnit report', () => {
  const counts: readonly [string, string, [number, number, number]][] = [
    ['suites in suites', '<?xml version="1.0"?><testsuites><testsuite><testcase/><testsuite><testcase/></testsuite></testsuite><testsuite><testcase/></testsuite></testsuites>', [3, 0, 0]],
    ['a lone suite', '<testsuite tests="9"><testcase name="a"/></testsuite>', [1, 0, 0]],
    ['failures and errors', '<testsuite><testcase><failure>no</failure></testcase><testcase><error message="x"/></testcase><testcase/></testsuite>', [1, 2, 0]],
    ['one test that failed and then broke down', '<testsuite><testcase><failure/><error/></testcase></testsuite>', [0, 1, 0]],
    ['skipped tests', '<testsuite><testcase><skipped message="later"/></testcase><testcase/></testsuite>', [1, 0, 1]],
    ['tests that say they did not run', '<testsuite><testcase status="notrun"/><testcase status="run"/><testcase status="disabled"/></testsuite>', [1, 0, 2]],
    ['a flaky test that passed in the end', '<testsuite><testcase><flakyFailure/></testcase></testsuite>', [1, 0, 0]],
    ['tests in comments, text and CDATA', '<testsuite><!-- <testcase/> --><testcase><system-out><![CDATA[</testcase><testcase/>]]> &lt;testcase/></system-out></testcase></testsuite>', [1, 0, 0]],
    ['tests where there can be none', '<testsuite><properties><testcase/></properties></testsuite>', [0, 0, 0]],
    ['a name with an angle bracket', '<testsuite><testcase name="a>b"/><testcase name=\'"/>\'/></testsuite>', [2, 0, 0]],
    ['a namespace', '<j:testsuite xmlns:j="urn:x"><j:testcase/></j:testsuite>', [1, 0, 0]],
    ['entities, which stay unexpanded', '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "<testcase/>">]><testsuite><testcase>&a;</testcase></testsuite>', [1, 0, 0]],
  ];
  for (const [name, xml, [passed, notPassed, skipped]] of counts) it(`counts ${name}`, () => assert.deepEqual(countJunit(xml, 'r.xml'), { passed, notPassed, skipped }));

  const refused: readonly [string, string, RegExp][] = [
    ['text', 'all good', /not well-formed XML, line 1/],
    ['a report that was cut', '<testsuites><testsuite><testcase/>', /not well-formed/],
    ['tags that do not match', '<testsuite><testcase></testsuite>', /not well-formed/],
    ['another document', '<html><testcase/></html>', /its root is not one testsuites or testsuite element/],
    ['two roots', '<testsuite/><testsuite/>', /not one testsuites/],
    ['five thousand levels', `${'<testsuite>'.repeat(5000)}${'</testsuite>'.repeat(5000)}`, /cannot be read as XML/],
    ['a prototype', '<testsuite><__proto__/></testsuite>', /cannot be read as XML/],
  ];
  for (const [name, xml, message] of refused) it(`refuses ${name}`, () => assertFails(() => countJunit(xml, 'r.xml'), 'not-numeric', message));
});

describe('a CTRF report', () => {
  const report = (statuses: readonly unknown[], summary: Record<string, unknown> = {}) => {
    const of = (status: string) => statuses.filter((each) => each === status).length;
    return JSON.stringify({
      results: {
        tool: { name: 'x' },
        summary: { tests: statuses.length, passed: of('passed'), failed: of('failed'), skipped: of('skipped'), pending: of('pending'), other: of('other'), start: 0, stop: 1, ...summary },
        tests: statuses.map((status) => ({ name: 't', status, duration: 1 })),
      },
    });
  };

  it('counts its list of tests', () => {
    assert.deepEqual(countCtrf(report(['passed', 'passed', 'failed', 'other', 'skipped', 'pending']), 'r.json'), { passed: 2, notPassed: 2, skipped: 2 });
  });

  it('must agree with its own summary', () => {
    assertFails(() => countCtrf(report(['failed'], { passed: 1, failed: 0 }), 'r.json'), 'conflicting', /says passed: "1", but its list of tests has 0/);
    assertFails(() => countCtrf(report(['passed'], { tests: 5 }), 'r.json'), 'conflicting', /says tests: "5"/);
    assertFails(() => countCtrf(report([], { tests: 8, passed: 8 }), 'r.json'), 'conflicting', /list of tests has 0/);
    assertFails(() => countCtrf(report(['passed'], { other: undefined }), 'r.json'), 'conflicting', /says other: "undefined"/);
  });

  const refused: readonly [string, string, RegExp][] = [
    ['text', 'passed', /is not JSON/],
    ['NaN', '{"results": NaN}', /is not JSON/],
    ['another document', '{"tests": []}', /no results with a summary and a list of tests/],
    ['a list', '[]', /no results/],
    ['null', 'null', /no results/],
    ['no list of tests', '{"results": {"summary": {}}}', /no results with/],
    ['no summary', '{"results": {"tests": []}}', /no results with/],
    ['an unknown status', report(['ok']), /the status "\\"ok\\"", not one of passed/],
    ['a status that every object has', report(['constructor']), /the status/],
    ['tests that are no objects', '{"results": {"summary": {}, "tests": [null]}}', /the status "undefined"/],
  ];
  for (const [name, text, message] of refused) it(`refuses ${name}`, () => assertFails(() => countCtrf(text, 'r.json'), 'not-numeric', message));
});

describe('the share of tests that passed', () => {
  it('leaves out what did not run, and says so', () => {
    assert.deepEqual(shareOfTests({ passed: 6, notPassed: 2, skipped: 1 }, 'r'), { value: 0.75, detail: '6 of 8 tests passed, 1 skipped' });
    assert.deepEqual(shareOfTests({ passed: 3, notPassed: 0, skipped: 0 }, 'r'), { value: 1, detail: '3 of 3 tests passed' });
  });

  it('needs a test that ran', () => {
    assertFails(() => shareOfTests({ passed: 0, notPassed: 0, skipped: 0 }, 'r'), 'empty', /no test in r/);
    assertFails(() => shareOfTests({ passed: 0, notPassed: 0, skipped: 3 }, 'r'), 'empty', /none of the 3 tests in r ran/);
  });
});
