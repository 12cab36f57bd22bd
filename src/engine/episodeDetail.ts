/** What an episode left on disk, in amounts that a view can show. */
import { open, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ArtifactInfo, EpisodeDetail, OutputText } from '../protocol/runView.js';
import type { EpisodeRecord } from '../store/records.js';

/** Bytes of each output that are sent; the whole is one click away in an editor. */
const OUTPUT_SHOWN = 512 * 1024;
const ARTIFACTS_SHOWN = 1000;

export async function readEpisode(folder: string, record: EpisodeRecord): Promise<EpisodeDetail> {
  const [stdout, stderr, verifier, artifacts] = await Promise.all([
    readOutput(join(folder, 'stdout.log')),
    readOutput(join(folder, 'stderr.log')),
    readOutput(join(folder, 'verifier.log')),
    listArtifacts(join(folder, 'artifacts')),
  ]);
  const none = { text: '', dropped: 0 };
  return { record, stdout: stdout ?? none, stderr: stderr ?? none, ...(verifier && { verifier }), artifacts };
}

async function readOutput(file: string): Promise<OutputText | undefined> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, OUTPUT_SHOWN));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
    return { text: buffer.toString('utf8', 0, bytesRead), dropped: size - bytesRead };
  } finally {
    await handle.close();
  }
}

async function listArtifacts(folder: string): Promise<ArtifactInfo[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).slice(0, ARTIFACTS_SHOWN);
  return Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(folder, path), size: (await stat(path)).size };
    }),
  );
}
