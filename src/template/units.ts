/** Sizes and durations as people write them, parsed strictly: no unit, a wrong unit or a stray space is an error. */
import * as z from 'zod';

const SIZE_UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Timers of Node hold 31 bits of milliseconds (24.8 days); one that is longer fires at once. */
const LONGEST_DURATION_HOURS = 576;

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text);
  if (!match || !Object.hasOwn(units, match[2]!)) return undefined;
  const value = Math.round(Number(match[1]) * units[match[2]!]!);
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

/** `2Gi` to bytes; undefined if it is not a positive size with a unit. */
export const parseSize = (text: string): number | undefined => parse(text, SIZE_UNITS);

/** `90s` to milliseconds; undefined if it is not a positive duration with a unit. */
export const parseDuration = (text: string): number | undefined => parse(text, DURATION_UNITS);

interface Quantity {
  readonly expected: string;
  readonly pattern: RegExp;
  readonly read: (text: string) => number | undefined;
  readonly most?: { readonly value: number; readonly text: string };
}

const quantity = ({ expected, pattern, read, most }: Quantity) =>
  z
    .string(expected)
    .regex(pattern, expected)
    .transform((text, context) => {
      const value = read(text);
      if (value === undefined) context.addIssue({ code: 'custom', message: expected });
      else if (most && value > most.value) context.addIssue({ code: 'custom', message: `expected at most ${most.text}` });
      return value ?? z.NEVER;
    });

/** A size with a unit, as bytes. */
export const size = quantity({
  expected: 'expected a size such as `512Mi` or `2Gi`',
  pattern: /^\d+(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)$/,
  read: parseSize,
});

/** A duration with a unit, as milliseconds. */
export const duration = quantity({
  expected: 'expected a duration such as `90s` or `5m`',
  pattern: /^\d+(\.\d+)?(ms|s|m|h)$/,
  read: parseDuration,
  most: { value: LONGEST_DURATION_HOURS * DURATION_UNITS.h!, text: `\`${LONGEST_DURATION_HOURS}h\`` },
});
