/** How values and names of a file are quoted in a message: on one line, short, without anything that a terminal would obey. */

const LONGEST_QUOTE = 60;
// Control and format characters (escapes, bidirectional overrides), line separators, lone surrogates.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escape = (character: string): string => {
  const code = character.codePointAt(0)!;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

/** Text as it may stand in a message. */
export function safe(text: string, longest = LONGEST_QUOTE): string {
  const characters = [...text.slice(0, longest * 2)];
  const short = text.length > longest * 2 || characters.length > longest ? `${characters.slice(0, longest).join('')}...` : text;
  return short.replace(/\r?\n/g, '\\n').replace(/\t/g, '\\t').replace(UNSAFE, escape);
}

/** A name or a key. */
export const quoteName = (text: string): string => `"${safe(text)}"`;

/** A path, in full. */
export const quotePath = (text: string): string => `"${safe(text, 4096)}"`;

/** A value as it was written. */
export const quoteValue = (text: string): string => `\`${safe(text)}\``;

/** `a`, `a or b`, `a, b or c`. */
export function orList(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)!}`;
}

export type DocumentPath = readonly (string | number)[];

/** `reward[1].weight`. */
export function formatPath(path: DocumentPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index ? `.${part}` : part)).join('');
}
