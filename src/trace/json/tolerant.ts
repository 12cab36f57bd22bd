/** JSON as programs really write it. */

const QUOTE = '"';

/**
 * `JSON.parse`, where bare `NaN`, `Infinity` and `-Infinity` (Python's `json.dumps` writes them) become the texts of these names: shown as
 * they stand, and never taken for a number. Throws a `SyntaxError` for anything else that is no JSON.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return JSON.parse(quoteNonFinite(text));
  }
}

function quoteNonFinite(text: string): string {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const opening = text.indexOf(QUOTE, from);
    const outside = text.slice(from, opening < 0 ? text.length : opening);
    pieces.push(outside.replace(/-?(?:NaN|Infinity)/g, '"$&"'));
    if (opening < 0) break;
    let closing = opening + 1;
    while (closing < text.length && text[closing] !== QUOTE) closing += text[closing] === '\\' ? 2 : 1;
    pieces.push(text.slice(opening, closing + 1));
    from = closing + 1;
  }
  return pieces.join('');
}
