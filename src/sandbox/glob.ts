/**
 * Glob patterns over absolute paths of a sandbox: `*` and `?` within one name, `[...]` and `[!...]`, `**` for any number of folders. Wildcards
 * also match names that begin with a dot. `\` takes the next character as it is. Paths and patterns are compared as bytes, so both are
 * latin1 strings here: names in a sandbox need not be UTF-8.
 */

export interface Glob {
  /** The folder above the first wildcard, or the whole path if there is none: where to look. */
  readonly root: string;
  /** How many levels below `root` a match can lie; undefined if there is no bound. */
  readonly depth: number | undefined;
  readonly matches: (path: string) => boolean;
}

/** Text as the byte string that paths are compared in. */
export const byteString = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Reads a pattern, which is ordinary text and begins with `/`. Relative parts (`.`, `..`, empty) are resolved first. */
export function parseGlob(pattern: string): Glob {
  const segments = resolveDots(byteString(pattern).split('/'));
  const first = segments.findIndex((segment) => /[*?[\\]/.test(segment));
  const fixed = first < 0 ? segments : segments.slice(0, first);
  const rest = segments.slice(fixed.length);
  const expression = new RegExp(`^${segments.map((segment) => (segment === '**' ? '(?:/[^/]+)*' : `/${segmentPattern(segment)}`)).join('')}$`, 's');
  return {
    root: `/${fixed.join('/')}`,
    depth: rest.includes('**') ? undefined : rest.length,
    matches: (path) => expression.test(path === '/' ? '' : path),
  };
}

function resolveDots(segments: readonly string[]): string[] {
  const clean: string[] = [];
  for (const segment of segments) {
    if (segment === '..') clean.pop();
    else if (segment !== '' && segment !== '.') clean.push(segment);
  }
  return clean;
}

/** One character: a byte of ASCII, or the bytes of one in UTF-8, or a stray byte. */
const ANY = '(?:[\\x00-\\x2e\\x30-\\x7f]|[\\xc0-\\xff][\\x80-\\xbf]*|[\\x80-\\xbf])';

function segmentPattern(segment: string): string {
  let out = '';
  for (let at = 0; at < segment.length; at++) {
    const char = segment[at]!;
    if (char === '*') out += segment[at + 1] === '*' ? '' : '[^/]*';
    else if (char === '?') out += ANY;
    else if (char === '\\') out += escape(segment[++at] ?? '\\');
    else if (char === '[') {
      const end = segment.indexOf(']', segment[at + 1] === '!' || segment[at + 1] === '^' ? at + 3 : at + 2);
      if (end < 0) out += '\\[';
      else {
        out += bracket(segment.slice(at + 1, end));
        at = end;
      }
    } else out += escape(char);
  }
  return out;
}

function bracket(body: string): string {
  const negated = body[0] === '!' || body[0] === '^';
  // Characters beyond ASCII are several bytes, so the set is spelled out as alternatives instead of a class of bytes.
  const characters = [...Buffer.from(negated ? body.slice(1) : body, 'latin1').toString('utf8')];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at++) {
    const [from, dash, to] = characters.slice(at, at + 3);
    if (dash === '-' && to !== undefined && from!.length === 1 && to.length === 1 && from! <= to && to < '\x80') {
      parts.push(`[${escape(from!)}-${escape(to)}]`);
      at += 2;
    } else parts.push(escape(byteString(from!)));
  }
  return negated ? `(?!${parts.join('|')})${ANY}` : `(?:${parts.join('|')})`;
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
