import { basename } from 'node:path';
import type { FileBytes } from '../bytes.js';
import { Outline, type Found } from '../json/scan.js';
import type { Probe } from './format.js';

const HEAD = 64 << 10;
const BOM = '\ufeff';

/** Goes through the first JSON value of a file, not further. */
export async function probeOf(file: string, bytes: FileBytes | undefined, signal?: AbortSignal): Promise<Probe> {
  const head = (await bytes?.read(0, HEAD)) ?? Buffer.alloc(0);
  const first = head.toString('utf8').replace(BOM, '').trimStart()[0];
  const top = first === '{' ? 'object' : first === '[' ? 'list' : undefined;
  const keys = new Map<string, Found>();
  let more = false;
  if (bytes && top) {
    const pattern = top === 'object' ? '*' : '*.*';
    const outline = await Outline.of(bytes, { start: 0, end: bytes.size }, [pattern], signal);
    for (const found of outline.all(pattern)) if (top === 'object' || found.indexes[0] === 0) keys.set(String(found.key), found);
    more = outline.end !== undefined && (await bytes.read(outline.end, outline.end + HEAD)).toString('latin1').trim() !== '';
  }
  return { file, name: basename(file), folder: !bytes, head, top, keys, more };
}
