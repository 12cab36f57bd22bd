/** Rows of a text that is comma-separated as RFC 4180 has it, or separated by tabs; at most so many. A text that is cut in the middle of a field loses its row. */
export function csvRows(text: string, separator: ',' | '\t', most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const character = text[at]!;
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') field += text[at++];
      else quoted = false;
    } else if (character === '"' && field === '') quoted = true;
    else if (character === separator || character === '\n') {
      row.push(field.endsWith('\r') && character === '\n' ? field.slice(0, -1) : field);
      field = '';
      if (character === separator) continue;
      rows.push(row);
      row = [];
    } else field += character;
  }
  if (rows.length < most && !quoted && (field !== '' || row.length > 0)) rows.push([...row, field]);
  return rows;
}
