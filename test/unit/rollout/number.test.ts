import { strict as assert } from 'node:assert';
import { OutputCapture } from '../../../src/rollout/output.js';
import { parseLastLine, parseNumber } from '../../../src/rollout/rewards/number.js';
import { assertFails } from './failures.js';

const lastLine = (text: string, limits?: { head: number; tail: number }): number => {
  const output = new OutputCapture(limits);
  output.write(Buffer.from(text));
  return parseLastLine(output, 'standard output');
};

describe('a reward as a number', () => {
  const accepted: readonly [string, number][] = [
    ['0', 0],
    ['1', 1],
    ['0.5', 0.5],
    ['-0.25', -0.25],
    ['+0.5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e-3', 0.001],
    ['2.5E+3', 2500],
    ['007', 7],
    ['  0.5\t', 0.5],
    ['0.5\r', 0.5],
    ['1e-400', 0],
    ['1.7976931348623157e308', Number.MAX_VALUE],
  ];
  for (const [text, value] of accepted) it(`accepts ${JSON.stringify(text)}`, () => assert.equal(parseNumber(text, 'it'), value));

  it('takes -0 for 0', () => assert(Object.is(parseNumber('-0', 'it'), 0)));

  const refused: readonly [string, string, RegExp][] = [
    ['', 'empty', /print one number/],
    [' \t ', 'empty', /print one number/],
    ['nan', 'not-finite', /"nan"; a reward must be finite/],
    ['NaN', 'not-finite', /must be finite/],
    ['-nan', 'not-finite', /must be finite/],
    ['inf', 'not-finite', /must be finite/],
    ['-inf', 'not-finite', /must be finite/],
    ['Infinity', 'not-finite', /must be finite/],
    ['+Infinity', 'not-finite', /must be finite/],
    ['1e400', 'not-finite', /beyond what a double can hold/],
    ['-1e400', 'not-finite', /beyond what a double can hold/],
    ['reward: 0.5', 'not-numeric', /"reward: 0.5", not a number; print only the number: 0.5$/],
    ['Reward = -1e-3', 'not-numeric', /print only the number: -1e-3$/],
    ['50%', 'not-numeric', /print only the number: 50$/],
    ['true', 'not-numeric', /print 1$/],
    ['False', 'not-numeric', /print 0/],
    ['None', 'not-numeric', /print 0/],
    ['0x10', 'not-numeric', /not a number/],
    ['0b1', 'not-numeric', /not a number/],
    ['0,5', 'not-numeric', /decimal point as a point: 0\.5$/],
    ['1_000', 'not-numeric', /without underscores: 1000$/],
    ['٠٫٥', 'not-numeric', /not a number/],
    ['１', 'not-numeric', /not a number/],
    ['0.5 0.7', 'not-numeric', /only one decimal number/],
    ['1/2', 'not-numeric', /only one decimal number/],
    ['1e', 'not-numeric', /not a number/],
    ['.', 'not-numeric', /not a number/],
    ['+-1', 'not-numeric', /not a number/],
    ['[0.5]', 'not-numeric', /print only the number: 0.5$/],
    ['\u00a00.5', 'not-numeric', /not a number/],
    ['\u001b[32m0.5\u001b[0m', 'not-numeric', /"\\u001b\[32m0.5\\u001b\[0m"/],
    ['9'.repeat(1001), 'too-large', /1001 characters/],
  ];
  for (const [text, code, message] of refused) it(`refuses ${JSON.stringify(text.slice(0, 30))}: ${code}`, () => assertFails(() => parseNumber(text, 'it'), code, message));

  it('quotes nothing that a terminal would obey', () => {
    assertFails(() => parseNumber('\u009b31m\u202e\u0007\u007f', 'it'), 'not-numeric', /^[\x20-\x7e]*$/);
  });
});

describe('a reward as the last line', () => {
  it('is read past blank lines', () => assert.equal(lastLine('hello\n0.5\n\n  \n'), 0.5));

  it('is missing from an empty output', () => assertFails(() => lastLine(' \n\n'), 'empty', /standard output is empty/));

  it('is not looked for above a warning, and the sentence says so', () => {
    assertFails(() => lastLine('0.5\nUserWarning: deprecated\n'), 'not-numeric', /"UserWarning: deprecated", not a number; only the last line is read, and "0.5" stands on an earlier one/);
  });

  it('is the last number of several', () => assert.equal(lastLine('0.1\n0.2\n'), 0.2));

  it('may be too long to have been kept', () => {
    assertFails(() => lastLine(`0.5\n${'1'.repeat(300)}`, { head: 50, tail: 50 }), 'too-large', /longer than what is kept/);
    assertFails(() => lastLine('9'.repeat(2000)), 'too-large', /2000 characters/);
  });

  it('that is not finite says so, whatever stands above it', () => assertFails(() => lastLine('0.5\nnan\n'), 'not-finite', /must be finite/));
});
