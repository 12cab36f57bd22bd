/** Files of a sandbox, read whole but bounded: in size and, as an episode can leave a pipe that nobody writes to, in time. */
import { addAbortSignal } from 'node:stream';
import { NoSuchFile, SandboxError } from '../../sandbox/errors.js';
import { withDeadline } from './deadline.js';
import { fail } from './failure.js';
import type { RewardContext } from './kind.js';

interface Limits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Up to `limit` bytes of a file and one more if there are more; undefined if there is no such file. */
export function readSome(context: RewardContext, path: string, limit: number, timeoutMs: number): Promise<Uint8Array | undefined> {
  return withDeadline(context.signal, timeoutMs, `reading ${path}`, async (signal) => {
    try {
      const stream = addAbortSignal(signal, await context.sandbox.files.read(path, { signal }));
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > limit) break;
      }
      return Buffer.concat(chunks, Math.min(size, limit + 1));
    } catch (error) {
      if (error instanceof NoSuchFile) return undefined;
      // Of this kind are refusals and breakdowns alike; only the one that would come again is no reason to try again.
      if (error instanceof SandboxError && error.code === SandboxError.name && (await isUnreadable(context, path, timeoutMs))) fail('missing', `${path} is not a file that can be read`);
      throw error;
    }
  });
}

/** Opens a regular file as a program of the sandbox would, and succeeds if that fails. */
const PROBE = 'test -e "$1" || exit 1; test -f "$1" && ( : < "$1" ) 2> /dev/null && exit 1; exit 0';

/** Whether a path is a folder, a pipe, a device, or a file that the episode made unreadable. */
async function isUnreadable({ sandbox, signal }: RewardContext, path: string, timeoutMs: number): Promise<boolean> {
  const child = sandbox.exec(['sh', '-c', PROBE, 'sh', path], { signal, timeoutMs });
  child.stdout.resume();
  child.stderr.resume();
  return (await child.exit).code === 0;
}

/** The whole file, or undefined if there is none. Throws `RewardFailure`: too-large, timed-out. */
export async function readBytes(context: RewardContext, path: string, { maxBytes, timeoutMs }: Limits): Promise<Uint8Array | undefined> {
  const bytes = await readSome(context, path, maxBytes, timeoutMs);
  if (bytes && bytes.length > maxBytes) fail('too-large', `${path} has more than ${maxBytes} bytes`);
  return bytes;
}

/** As `readBytes`, decoded: without a byte order mark, and with U+FFFD for what is not UTF-8. */
export async function readText(context: RewardContext, path: string, limits: Limits): Promise<string | undefined> {
  const bytes = await readBytes(context, path, limits);
  return bytes && new TextDecoder().decode(bytes);
}
