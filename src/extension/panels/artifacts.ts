/** Files that an episode left: read for the page, opened, compared, saved. Their names came out of a sandbox, and so did their content. */
import * as l10n from '@vscode/l10n';
import { access, cp, lstat, open, realpath } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import * as vscode from 'vscode';
import { MOST_MEDIA_BYTES, MOST_TEXT_BYTES, artifactKind } from '../../protocol/artifactKind.js';
import type { ArtifactContent } from '../../protocol/runView.js';
import { Layout } from '../../store/layout.js';
import { Failure } from '../failure.js';
import { oneLine } from '../format.js';
import { pickOtherEpisode } from '../pickEpisode.js';
import type { Runner } from '../runner.js';
import type { RunRef } from '../views/node.js';
import { artifactPath } from './artifactPath.js';

/** Shown as what they are; everything else opens as text, so that no viewer interprets it. */
const PICTURES_AND_SOUND = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp', '.ico', '.mp3', '.wav', '.ogg', '.mp4', '.webm']);

export async function openArtifact(ref: RunRef, episode: number, name: string): Promise<void> {
  const uri = vscode.Uri.file(await artifactPath(ref, episode, name));
  if (PICTURES_AND_SOUND.has(extname(uri.path).toLowerCase())) await vscode.commands.executeCommand('vscode.open', uri);
  else await vscode.commands.executeCommand('vscode.openWith', uri, 'default');
}

/** As far as the page shows it. Bytes go by message: the page itself can read no file of the disk. */
export async function readArtifact(ref: RunRef, episode: number, name: string): Promise<ArtifactContent> {
  const { kind } = artifactKind(name);
  const media = kind === 'image' || kind === 'video';
  const handle = await open(await artifactPath(ref, episode, name), 'r');
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(media ? (size > MOST_MEDIA_BYTES ? 0 : size) : Math.min(size, MOST_TEXT_BYTES));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return { size, bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await handle.close();
  }
}

/** Beside the one of the same name of another episode. */
export async function compareArtifact(runner: Runner, ref: RunRef, episode: number, name: string): Promise<void> {
  const one = await artifactPath(ref, episode, name);
  const other = await pickOtherEpisode(runner, { ...ref, episode });
  if (!other) return;
  const there = await artifactPath(ref, other.episode, name).catch((error: unknown) => {
    throw new Failure(l10n.t('episode {0} has no {1}', other.episode, oneLine(name, 100)), undefined, { cause: error });
  });
  const title = l10n.t('{0}: episode {1} ↔ episode {2}', oneLine(basename(name), 60), episode, other.episode);
  await vscode.commands.executeCommand('vscode.diff', vscode.Uri.file(one), vscode.Uri.file(there), title);
}

/** Copies the files to a folder that is not there yet, in one of a person's choice. Links are not followed, and not copied. */
export async function saveArtifacts({ root, id }: RunRef, episode: number): Promise<void> {
  const [parent] = (await vscode.window.showOpenDialog({ defaultUri: vscode.Uri.file(root), canSelectFiles: false, canSelectFolders: true, openLabel: l10n.t('Save Here') })) ?? [];
  if (!parent) return;
  if (parent.scheme !== 'file') throw new Failure(l10n.t('the file must be on disk'));
  const name = `${id}-episode-${episode}`;
  const free = async (number: number): Promise<string> => {
    const path = join(parent.fsPath, number === 1 ? name : `${name}-${number}`);
    return (await access(path).then(() => true, () => false)) ? free(number + 1) : path;
  };
  const target = await free(1);
  await cp(await realpath(join(new Layout(root).episode(id, episode), 'artifacts')), target, {
    recursive: true,
    filter: async (source) => {
      const found = await lstat(source);
      return found.isFile() || found.isDirectory();
    },
  });
  const reveal = l10n.t('Reveal');
  if ((await vscode.window.showInformationMessage(l10n.t('The artifacts are in {0}.', target), reveal)) === reveal) await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(target));
}
