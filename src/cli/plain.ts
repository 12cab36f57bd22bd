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
