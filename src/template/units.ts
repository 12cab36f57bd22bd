/** Sizes and durations as people write them, parsed strictly: no unit, a wrong unit or a stray space is an error. */
import { z } from 'zod';

const SIZE_UNITS: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const DURATION_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function parse(text: string, units: Record<string, number>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text);
  const unit = match && units[match[2]!];
  const value = match && unit ? Math.round(Number(match[1]) * unit) : undefined;
  return value !== undefined && value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

/** `2Gi` to bytes; undefined if it is not a positive size with a unit. */
export const parseSize = (text: string): number | undefined => parse(text, SIZE_UNITS);

/** `90s` to milliseconds; undefined if it is not a positive duration with a unit. */
export const parseDuration = (text: string): number | undefined => parse(text, DURATION_UNITS);

const strict = (what: string, pattern: string, read: (text: string) => number | undefined) =>
  z
    .string(what)
    .regex(new RegExp(pattern), what)
    .transform((text, context) => {
      const value = read(text);
      if (value === undefined) context.addIssue({ code: 'custom', message: what });
      return value ?? z.NEVER;
    });

/** A size with a unit, as bytes. */
export const size = strict('expected a size such as `512Mi` or `2Gi`', '^\\d+(\\.\\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)$', parseSize);

/** A duration with a unit, as milliseconds. */
export const duration = strict('expected a duration such as `90s` or `5m`', '^\\d+(\\.\\d+)?(ms|s|m|h)$', parseDuration);
