/** Opens a file that an episode left. Its name came out of a sandbox, and so did its content. */
import * as l10n from '@vscode/l10n';
import { realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import * as vscode from 'vscode';
import { Layout } from '../../store/layout.js';
import { Failure } from '../failure.js';
import type { RunRef } from '../views/node.js';

/** Shown as what they are; everything else opens as text, so that no viewer interprets it. */
const PICTURES_AND_SOUND = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp', '.ico', '.mp3', '.wav', '.ogg', '.mp4', '.webm']);

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

export async function openArtifact(ref: RunRef, episode: number, name: string): Promise<void> {
  const uri = vscode.Uri.file(await artifactPath(ref, episode, name));
  if (PICTURES_AND_SOUND.has(extname(uri.path).toLowerCase())) await vscode.commands.executeCommand('vscode.open', uri);
  else await vscode.commands.executeCommand('vscode.openWith', uri, 'default');
}
