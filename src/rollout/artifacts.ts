/** Artifacts: files pulled out of a sandbox after its episode, bounded, links never followed. */
import { rm } from 'node:fs/promises';
import { extractArchive } from '../sandbox/archive.js';
import type { Sandbox } from '../sandbox/provider.js';
import type { Redactor } from './secrets.js';

const MAX_BYTES = 1 << 30;
const MAX_FILES = 10_000;

export interface KeptArtifacts {
  readonly count: number;
  /** Why the rest is missing, where they were too many or too large: that is what the episode did, and no failure of the machinery. */
  readonly cut?: string;
}

/** What attempts before left is replaced. Values of secrets are taken out of contents and names on their way to the disk. */
export async function keepArtifacts(sandbox: Sandbox, patterns: readonly string[], directory: string, redactor: Redactor, signal: AbortSignal): Promise<KeptArtifacts> {
  await rm(directory, { recursive: true, force: true });
  const archive = await sandbox.files.download(patterns, { signal });
  let cut: string | undefined;
  const files = await extractArchive(archive, directory, { maxBytes: MAX_BYTES, maxFiles: MAX_FILES, signal, onLimit: (why) => (cut = why), redactor: redactor.isEmpty ? undefined : redactor });
  return { count: files.length, cut };
}
