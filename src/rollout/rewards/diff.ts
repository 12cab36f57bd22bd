import { readFile, stat } from 'node:fs/promises';
import { fail } from './failure.js';
import type { RewardKind, RewardValue } from './kind.js';
import { commonLines } from './lcs.js';
import { readBytes, readSome } from './sandboxFile.js';
import { verifyOrFail } from './verifier.js';

const MAX_BYTES = { exact: 64 << 20, lines: 4 << 20 };
/** Comparing two files of as many lines that have nothing in common takes well under a second. */
const MAX_LINES = 20_000;

/** How close a file of the sandbox is to an expected one. No such file is an episode that did not write it: 0. */
export const diff: RewardKind<'diff'> = async (spec, context) => {
  await verifyOrFail(spec, context);
  const expected = await readExpected(spec.expected, MAX_BYTES[spec.mode]);
  if (spec.mode === 'exact') {
    // Whatever comes after the first byte too many cannot make them equal.
    const actual = await readSome(context, spec.path, expected.length, spec.timeout);
    if (!actual) return noSuchFile(spec.path);
    const equal = expected.equals(actual);
    return { value: equal ? 1 : 0, detail: equal ? 'equal' : 'different' };
  }
  const actual = await readBytes(context, spec.path, { maxBytes: MAX_BYTES.lines, timeoutMs: spec.timeout });
  return actual ? compareLines(splitLines(actual, spec.path), splitLines(expected, spec.expected)) : noSuchFile(spec.path);
};

const noSuchFile = (path: string): RewardValue => ({ value: 0, detail: `no such file: ${path}` });

async function readExpected(file: string, maxBytes: number): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > maxBytes) fail('too-large', `the expected file ${file} has more than ${maxBytes} bytes`);
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    fail('verifier-failed', `cannot read the expected file ${file}: ${code}`);
  }
}

/** Lines as bytes, one character each; how a line ends, and whether the last one does, makes no difference. */
function splitLines(bytes: Uint8Array, path: string): string[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > MAX_LINES) fail('too-large', `${path} has more than ${MAX_LINES} lines`);
  return lines;
}

function compareLines(actual: readonly string[], expected: readonly string[]): RewardValue {
  const all = actual.length + expected.length;
  const common = commonLines(actual, expected);
  return { value: all === 0 ? 1 : (2 * common) / all, detail: `${common} common lines, ${actual.length} in the file, ${expected.length} expected` };
}
