import type { IncomingMessage } from 'node:http';

/** A request says more than is taken. */
export class TooLarge extends Error {
  constructor(most: number) {
    super(`a body of more than ${most >> 20} MiB is not taken; files are written as a stream`);
  }
}

/** All that a request says. Rejects with `TooLarge`. */
export async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > most) throw new TooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
