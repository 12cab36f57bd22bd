/**
 * Reads text as a terminal would, as far as colour goes: of all escape sequences only SGR (ECMA-48, 8.3.117) has an effect. Titles,
 * links, images, cursor movements and the like are dropped, and so are control characters and marks that reorder text.
 */
import { BIDI_CONTROLS, wellFormed } from './text.js';

/** One of the terminal's 16 colours, or red, green and blue. */
export type AnsiColour = number | readonly [number, number, number];

export interface AnsiStyle {
  readonly foreground?: AnsiColour;
  readonly background?: AnsiColour;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

export interface AnsiSegment {
  readonly text: string;
  readonly style: AnsiStyle;
}

type MutableStyle = { -readonly [K in keyof AnsiStyle]: AnsiStyle[K] };

const PLAIN: AnsiStyle = {};

// In order: strings (OSC, DCS, SOS, PM, APC) up to their terminator or the end of the line, control sequences, other escapes, controls.
const SPECIAL = new RegExp(
  '(?<string>(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x9c\\n]*(?:\\x07|\\x1b\\\\|\\x9c)?)' +
    '|(?:\\x1b\\[|\\x9b)(?<parameters>[0-?]*)(?<intermediate>[ -/]*)(?<final>[@-~]?)' +
    '|\\x1b[ -/]*[0-~]?' +
    '|(?<return>\\r)' +
    `|[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f${BIDI_CONTROLS}]`,
  'g',
);

/**
 * Splits text into runs of one style. What a carriage return goes back over (a progress bar) is replaced by what follows it.
 */
export function parseAnsi(text: string): AnsiSegment[] {
  const segments: AnsiSegment[] = [];
  let lineStart = 0;
  let returned = false;
  let style = PLAIN;

  const push = (part: string) => {
    if (part === '') return;
    const last = segments.at(-1);
    if (last?.style === style && segments.length > lineStart) segments[segments.length - 1] = { text: last.text + part, style };
    else segments.push({ text: part, style });
  };
  const write = (chunk: string) => {
    if (chunk === '') return;
    if (returned && !chunk.startsWith('\n')) segments.length = lineStart;
    returned = false;
    const end = chunk.lastIndexOf('\n') + 1;
    push(chunk.slice(0, end));
    if (end > 0) lineStart = segments.length;
    push(chunk.slice(end));
  };

  const source = wellFormed(text);
  let from = 0;
  for (const match of source.matchAll(SPECIAL)) {
    write(source.slice(from, match.index));
    from = match.index + match[0].length;
    const groups = match.groups!;
    if (groups['return']) returned = true;
    else if (groups['final'] === 'm' && groups['intermediate'] === '' && !/[<=>?]/.test(groups['parameters']!)) style = applySgr(style, groups['parameters']!);
  }
  write(source.slice(from));
  return segments;
}

/** The style after an SGR sequence with these parameters. */
function applySgr(before: AnsiStyle, parameters: string): AnsiStyle {
  let style: MutableStyle = { ...before };
  const groups = parameters.split(';').map((parameter) => parameter.split(':'));
  for (let index = 0; index < groups.length; index++) {
    const [first = '', ...sub] = groups[index]!;
    const code = first === '' ? 0 : Number(first);
    if (code === 0) style = {};
    else if (code === 38 || code === 48) {
      const rest = sub.length > 0 ? sub : groups.slice(index + 1).map(([value = '']) => value);
      const { colour, used } = extendedColour(rest, sub.length > 0);
      if (sub.length === 0) index += used;
      if (colour !== undefined) style[code === 38 ? 'foreground' : 'background'] = colour;
    } else Object.assign(style, simpleSgr(code, sub[0]));
  }
  return Object.values(style).some((value) => value !== undefined && value !== false) ? style : PLAIN;
}

function simpleSgr(code: number, sub?: string): MutableStyle {
  switch (code) {
    case 1: return { bold: true };
    case 2: return { dim: true };
    case 3: return { italic: true };
    case 4: return { underline: sub !== '0' };
    case 7: return { inverse: true };
    case 9: return { strike: true };
    case 21: return { underline: true };
    case 22: return { bold: false, dim: false };
    case 23: return { italic: false };
    case 24: return { underline: false };
    case 27: return { inverse: false };
    case 29: return { strike: false };
    case 39: return { foreground: undefined };
    case 49: return { background: undefined };
  }
  if (code >= 30 && code <= 37) return { foreground: code - 30 };
  if (code >= 40 && code <= 47) return { background: code - 40 };
  if (code >= 90 && code <= 97) return { foreground: code - 90 + 8 };
  if (code >= 100 && code <= 107) return { background: code - 100 + 8 };
  return {};
}

/** What follows 38 or 48: `5;n` or `2;r;g;b`, or with colons `2::r:g:b`, where an empty colour space may come first. */
function extendedColour(rest: readonly string[], colons: boolean): { colour?: AnsiColour; used: number } {
  if (rest[0] === '5') return { colour: indexedColour(Number(rest[1])), used: 2 };
  if (rest[0] !== '2') return { used: 0 };
  const parts = (colons && rest.length >= 5 ? rest.slice(2, 5) : rest.slice(1, 4)).map(Number);
  const valid = parts.length === 3 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255);
  return { colour: valid ? [parts[0]!, parts[1]!, parts[2]!] : undefined, used: 4 };
}

/** The 256 colours of xterm: 16 of the theme, a cube of 6 x 6 x 6, 24 greys. */
function indexedColour(index: number): AnsiColour | undefined {
  if (!Number.isInteger(index) || index < 0 || index > 255) return undefined;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + 10 * (index - 232);
    return [grey, grey, grey];
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const cube = index - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}
