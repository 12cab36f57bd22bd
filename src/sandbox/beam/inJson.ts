/** Bytes that the gateway has as base64 in JSON, in and out without a text of all of them: several such texts at once are what memory goes to. */

/** Bytes that become one text; a multiple of 3. */
const STEP = 48 << 10;
/** The same of characters. */
const CHARACTERS = (STEP / 3) * 4;

/** An object with one more field, `data`. */
export function withData(fields: object, data: Buffer): Buffer {
  const head = JSON.stringify({ ...fields, data: '' }).slice(0, -2);
  const length = Buffer.byteLength(head);
  const json = Buffer.allocUnsafe(length + Math.ceil(data.length / 3) * 4 + 2);
  let end = json.write(head);
  for (let at = 0; at < data.length; at += STEP) end += json.write(data.toString('base64', at, Math.min(data.length, at + STEP)), end, 'latin1');
  json.write('"}', end);
  return json;
}

/** The field `data` of an object, empty if there is none, and the others. Throws `SyntaxError` for what is no JSON. */
export function dataIn<T>(json: Buffer): { readonly data: Buffer; readonly rest: T } {
  const name = json.indexOf('"data"');
  const start = json.indexOf('"', json.indexOf(':', name)) + 1;
  const end = json.indexOf('"', start);
  if (name < 0 || start === 0 || end < 0) return { data: Buffer.alloc(0), rest: JSON.parse(json.toString()) as T };
  const rest = JSON.parse(json.toString('utf8', 0, start) + json.toString('utf8', end)) as T;
  const data = Buffer.allocUnsafe(Math.ceil(((end - start) / 4) * 3));
  let length = 0;
  for (let at = start; at < end; at += CHARACTERS) length += data.write(json.toString('latin1', at, Math.min(end, at + CHARACTERS)), length, 'base64');
  return { data: data.subarray(0, length), rest };
}
