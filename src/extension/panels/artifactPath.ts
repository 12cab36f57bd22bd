/** Where an artifact lies, if it really is one: its name came out of a sandbox. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Layout } from '../../store/layout.js';
import { Failure } from '../failure.js';
import type { RunRef } from '../views/node.js';

/** Path of an artifact that really lies in the episode's folder, links followed. Rejects with `Failure`. */
export async function artifactPath({ root, id }: RunRef, episode: number, name: string): Promise<string> {
  const folder = join(new Layout(root).episode(id, episode), 'artifacts');
  const gone = (cause?: unknown) => new Failure(l10n.t('the file is not among the artifacts of the episode'), undefined, { cause });
  try {
    const base = await realpath(folder);
    const file = await realpath(join(base, name));
    if (!file.startsWith(base + sep) || !(await stat(file)).isFile()) throw gone();
    return file;
  } catch (error) {
    throw error instanceof Failure ? error : gone(error);
  }
}
