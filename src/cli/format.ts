/** Numbers as people read them. An em dash stands where there is none: a missing reward is never 0. */

export const NONE = '—';

export function reward(value: number | null | undefined, digits = 4): string {
  return value === null || value === undefined ? NONE : value.toFixed(digits);
}

export function milliseconds(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

export function bytes(count: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Rows in columns as wide as their widest cell; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[], gap = '  '): string {
  const widths = rows.reduce<number[]>((result, row) => row.map((cell, index) => Math.max(cell.length, result[index] ?? 0)), []);
  return rows.map((row) => row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index]!))).join(gap)).join('\n');
}
