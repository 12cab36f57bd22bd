/** Folders that sandboxes have written to. */
import { lstat, rm } from 'node:fs/promises';
import { runCommand } from '../command.js';
import { LimitExceeded, SandboxError } from '../errors.js';

/** Removes a folder with all below; what is not there is a success. A sandbox may have taken its own folders' permissions away. */
export async function removeTree(path: string, chmod: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!(await lstat(path).then(() => true, () => false))) return;
    const { code } = await runCommand(chmod, ['-R', 'u+rwX', '--', path]);
    if (code !== 0 && code !== 1) throw error;
    await rm(path, { recursive: true, force: true });
  }
}

/** Bytes on disk of a folder with all below. */
export async function sizeOf(path: string, du: string, signal?: AbortSignal): Promise<number> {
  const { stdout } = await runCommand(du, ['-s', '--block-size=1', '--', path], { signal });
  return Number.parseInt(stdout, 10) || 0;
}

/** What a program that writes had to say, as an error: a full disk is a limit. */
export function diskFailure(what: string, said: string): SandboxError {
  const message = `${what}: ${said.trim().slice(-1000)}`;
  return /No space left|quota/i.test(said) ? new LimitExceeded(message) : new SandboxError(message);
}
