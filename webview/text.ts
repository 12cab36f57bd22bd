/** Marks that reorder the text around them, so that it reads as something else. */
export const BIDI_CONTROLS = '\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069';

const ESCAPES = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;
const SPACES = /[\s\u0085]+/g;
const UNPRINTABLE = new RegExp(`[\\x00-\\x1f\\x7f-\\x9f${BIDI_CONTROLS}]`, 'g');

/** Half a character (a surrogate without its other half) is replaced; everything else stays. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Text from a sandbox (a cause, a name, a detail) as one line: no escape sequences, no control characters, nothing that reorders it, at most `limit` characters. */
export function oneLine(text: string, limit = 1000): string {
  const clean = wellFormed(text.slice(0, 4 * limit))
    .replace(ESCAPES, '')
    .replace(SPACES, ' ')
    .replace(UNPRINTABLE, '\ufffd')
    .trim();
  return clean.length > limit ? `${wellFormed(clean.slice(0, limit))}\u2026` : clean;
}
