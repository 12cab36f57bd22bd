/** Artifacts: files pulled out of a sandbox after its episode, bounded, links never followed. */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { extractArchive } from '../sandbox/archive.js';
import type { Sandbox } from '../sandbox/provider.js';
import { Redactor } from './secrets.js';

const MAX_BYTES = 1 << 30;
const MAX_FILES = 10_000;

/** Returns how many files were kept. A file that holds a secret's value is not kept. */
export async function keepArtifacts(sandbox: Sandbox, patterns: readonly string[], directory: string, secrets: Readonly<Record<string, string>>, signal: AbortSignal): Promise<number> {
  const archive = await sandbox.files.download(patterns, { signal });
  const files = await extractArchive(archive, directory, { maxBytes: MAX_BYTES, maxFiles: MAX_FILES, signal });
  if (Object.keys(secrets).length === 0) return files.length;
  const redactor = new Redactor(secrets);
  let kept = 0;
  for (const { path } of files) {
    const file = join(directory, path);
    if (await redactor.occursIn(createReadStream(file))) await rm(file);
    else kept += 1;
  }
  return kept;
}
