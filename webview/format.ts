/**
 * Numbers as the run view shows them. One notation whatever the language: the filter reads numbers back, and it knows only this one.
 */
const count = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Stands where there is no number. A missing reward is not 0. */
export const NONE = '\u2014';

/** A whole number, with a comma between thousands. */
export function integer(value: number): string {
  return count.format(value);
}

/** A reward, in about as many digits as can matter; very large and very small ones as powers of ten. */
export function reward(value: number | null, decimals = 4): string {
  if (value === null || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e7 || (size > 0 && size < 0.5 * 10 ** -decimals)) return value.toExponential(2);
  if (decimals === 0) return String(Number(value.toFixed(4)));
  return value.toFixed(size >= 10_000 ? 1 : size >= 100 ? Math.min(decimals, 2) : decimals);
}

/** A number that a person chose, such as a weight or a bound: in as few digits as it has, four at most. */
export function edge(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** A difference: with its sign, also where it is more. */
export function signed(value: number | null, decimals = 3): string {
  return value !== null && value > 0 ? `+${reward(value, decimals)}` : reward(value, decimals);
}

/** Decimals for a column of rewards: none if they are whole numbers as far as can be seen. */
export function rewardDecimals(stats: { min: number | null; median: number | null; max: number | null }): number {
  return [stats.min, stats.median, stats.max].every((value) => value === null || Number.isInteger(value)) ? 0 : 4;
}

/** A mean and the half width of its interval, both to two digits of the latter. */
export function estimate(mean: number | null, halfWidth: number | null): string {
  if (mean === null) return NONE;
  if (halfWidth === null || !Number.isFinite(halfWidth) || halfWidth <= 0) return reward(mean);
  const decimals = 1 - Math.floor(Math.log10(halfWidth));
  if (decimals < 0 || decimals > 8) return `${reward(mean)} \u00b1 ${reward(halfWidth)}`;
  return `${mean.toFixed(decimals)} \u00b1 ${halfWidth.toFixed(decimals)}`;
}

/** `$0.12`; below a cent as many places as show something. */
export const dollars = (value: number): string => `$${value === 0 || value >= 0.01 ? value.toFixed(2) : value.toPrecision(2)}`;

/** Milliseconds as a person would say them. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return NONE;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Bytes, in steps of 1,024. */
export function bytes(value: number): string {
  if (value < 1024) return `${integer(value)} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1023.5 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** A share of a whole, in percent. */
export function percent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((100 * part) / whole)} %` : NONE;
}

/** When something happened: the time, and the day if it was not today. */
export function moment(at: number, now = Date.now()): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return date.toDateString() === new Date(now).toDateString() ? time : `${date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' })} ${time}`;
}
