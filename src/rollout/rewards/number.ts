/** A reward as text: strictly one decimal number. What is nearly one is not guessed at, but the sentence says what to print. */
import type { OutputCapture } from '../output.js';
import { fail, quote } from './failure.js';

/** Longer than any number that a program prints. */
const LONGEST_NUMBER = 1000;
/** How far back to look for the number that a later line hides. */
const LINES_TO_SEARCH = 20;

const BLANKS = ' \t\v\f\r\n';
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const NOT_FINITE = /^[+-]?(nan|inf|infinity)$/i;
const NUMBERS_WITHIN = /[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/g;

/** Removes the blanks around a number: only ASCII ones, and in time linear in the text. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.includes(text[start]!)) start++;
  while (end > start && BLANKS.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const isNumber = (text: string): boolean => NUMBER.test(trim(text));

/**
 * Reads a number: digits with an optional sign, point and exponent, blanks around it allowed. `what` names the text in a sentence (`the last
 * line of standard output`). `-0` is 0. Throws `RewardFailure`: empty, not-numeric, not-finite or too-large.
 */
export function parseNumber(text: string, what: string): number {
  if (text.length > LONGEST_NUMBER) fail('too-large', `${what} has ${text.length} characters, more than a number needs`);
  const trimmed = trim(text);
  if (trimmed === '') fail('empty', `${what} is empty; print one number`);
  if (NOT_FINITE.test(trimmed)) fail('not-finite', `${what} is ${quote(trimmed)}; a reward must be finite`);
  if (!NUMBER.test(trimmed)) fail('not-numeric', `${what} is ${quote(trimmed)}, not a number; ${advice(trimmed)}`);
  const value = Number(trimmed);
  if (!Number.isFinite(value)) fail('not-finite', `${what} is ${quote(trimmed)}, which is beyond what a double can hold`);
  return value + 0;
}

/** Reads the last line that is not blank. */
export function parseLastLine(output: OutputCapture, whose: string): number {
  const [last, ...earlier] = output.lastLines(LINES_TO_SEARCH);
  if (!last) fail('empty', `${whose} is empty; print the reward as its last line`);
  if (!last.complete) fail('too-large', `the last line of ${whose} is longer than what is kept of it; print the reward as a line of its own`);
  const text = trim(last.text);
  const hidden = earlier.find((line) => line.complete && isNumber(line.text));
  if (hidden && !isNumber(text) && !NOT_FINITE.test(text) && last.text.length <= LONGEST_NUMBER)
    fail('not-numeric', `the last line of ${whose} is ${quote(text)}, not a number; only the last line is read, and ${quote(trim(hidden.text))} stands on an earlier one: print the reward last`);
  return parseNumber(last.text, `the last line of ${whose}`);
}

function advice(text: string): string {
  if (/^true$/i.test(text)) return 'print 1';
  if (/^(false|none|null)$/i.test(text)) return 'print 0, if that is what it means';
  if (/^[+-]?\d+,\d+$/.test(text)) return `write the decimal point as a point: ${text.replace(',', '.')}`;
  if (/^[+-]?\d[\d_]*\d(\.\d+)?$/.test(text)) return `write it without underscores: ${text.replaceAll('_', '')}`;
  const found = text.match(NUMBERS_WITHIN);
  return found?.length === 1 ? `print only the number: ${found[0]}` : 'print only one decimal number such as 0.5';
}
