/** Texts and values of a trace as people read them, in a line or as parts. */

/** Without halves of surrogate pairs, which no other program can be given. */
export const wellFormed = (text: string): string => (text as string & { toWellFormed(): string }).toWellFormed();

/** One line of at most 200 characters. */
export function titleOf(text: string, length = 200): string {
  const line = wellFormed(text.slice(0, length * 4)).replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

export function compact(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '…';
  }
}

/** A tool call on one line: its name and the first argument that says something. */
export function callTitle(name: string, args: unknown): string {
  if (typeof args === 'string') return titleOf(args ? `${name}: ${args}` : name);
  if (!isRecord(args)) return titleOf(args === null || args === undefined ? name : `${name}: ${compact(args)}`);
  const values = Object.values(args);
  const first = values.find((value) => typeof value === 'string' && value !== '') ?? values[0];
  return titleOf(first === undefined ? name : `${name}: ${compact(first)}`);
}

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A finite number, or `undefined`. */
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
