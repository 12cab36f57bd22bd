/** Big values of a native trace: files beside it, named by their SHA-256. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { constants } from 'node:fs';
import { isRecord } from '../text.js';

const NAME = /^[0-9a-f]{64}$/;
const MOST = 256 << 20;

/** The content; refuses every name that is no digest, and a link in its place. */
export async function readStored(trace: string, name: string): Promise<Uint8Array> {
  if (!NAME.test(name)) throw new Error(`"${name.slice(0, 80)}" does not name a blob`);
  const handle = await open(join(dirname(trace), 'blobs', name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error(`the blob ${name} is no ordinary file`);
    if (found.size > MOST) throw new Error(`the blob ${name} has ${found.size} bytes, more than the ${MOST} that are shown`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

const MOST_SEARCHED = 32 << 20;

/** What the text blobs that values name say; of one that is missing or very large, nothing. */
export async function textsOfBlobs(trace: string, values: readonly unknown[]): Promise<string[]> {
  const texts: string[] = [];
  const open: unknown[] = [...values].reverse();
  while (open.length) {
    const next = open.pop();
    if (Array.isArray(next)) open.push(...(next as unknown[]).slice(0, 10_000).reverse());
    else if (!isRecord(next)) continue;
    else if (next.$blob === true && typeof next.blob === 'string') {
      const { blob, mediaType, bytes } = next;
      if (typeof mediaType !== 'string' || !/^(text\/|application\/json)/.test(mediaType) || typeof bytes !== 'number' || bytes > MOST_SEARCHED) continue;
      const data = await readStored(trace, blob).catch(() => undefined);
      if (data) texts.push(new TextDecoder().decode(data));
    } else open.push(...Object.values(next).reverse());
  }
  return texts;
}
