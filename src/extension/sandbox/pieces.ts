/** Whole files through the runner, piece by piece. Knows nothing of VS Code. */
import { MOST_PIECE } from '../../runner/sandboxApi.js';
import type { Runner } from '../runner.js';
import type { RunRef, SandboxRef } from '../views/node.js';

type Requester = Pick<Runner, 'request'>;

export interface Reading {
  readonly offset?: number;
  readonly length?: number;
  readonly original?: boolean;
  readonly snapshot?: boolean;
  /** Most bytes that may come; more are `TooLarge`. */
  readonly most: number;
  readonly signal?: AbortSignal;
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** Rejects with `RunnerError`, or with `TooLarge`. With `snapshot` it is one of a snapshot. */
export async function readFile(runner: Requester, { root, id }: RunRef, path: string, { most, signal, ...part }: Reading): Promise<Uint8Array> {
  const { handle } = await runner.request('files/open', { root, id, path, ...part }, { signal });
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for (;;) {
      const { data, end } = await runner.request('files/read', { root, handle }, { signal });
      const piece = Buffer.from(data, 'base64');
      size += piece.length;
      if (size > most) throw new TooLarge(`more than ${most} bytes`);
      pieces.push(piece);
      if (end) return new Uint8Array(Buffer.concat(pieces));
    }
  } catch (error) {
    await runner.request('files/close', { root, handle }).catch(() => undefined);
    throw error;
  }
}

/** Over what is there, whose mode stays. Rejects with `RunnerError`. */
export async function writeFile(runner: Requester, { root, id }: SandboxRef, path: string, content: Uint8Array): Promise<void> {
  const { handle } = await runner.request('files/create', { root, id, path, size: content.length });
  try {
    for (let at = 0; at < content.length; at += MOST_PIECE) {
      const piece = content.subarray(at, at + MOST_PIECE);
      await runner.request('files/append', { root, handle, data: Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('base64') });
    }
    await runner.request('files/finish', { root, handle });
  } catch (error) {
    await runner.request('files/close', { root, handle }).catch(() => undefined);
    throw error;
  }
}
