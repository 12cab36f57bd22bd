import { stripVTControlCharacters } from 'node:util';

/** Text from a sandbox for a terminal: no escape sequence, no control character but tab and newline. */
export function plain(text: string): string {
   
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** The same on one line, cut to a length. */
export function oneLine(text: string, length = 200): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

const COLOURS = /\u001b\[[\d;:]*m/g;

/** The same, where colours and weights (SGR) may stay: they end with the text. */
export function coloured(text: string): string {
  const codes = text.match(COLOURS);
  if (!codes) return plain(text);
  return text.split(COLOURS).map((piece, index) => plain(piece) + (codes[index] ?? '')).join('') + '\u001b[0m';
}

/** JSON that a terminal takes for nothing but text: control characters that `JSON.stringify` leaves are escaped. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
