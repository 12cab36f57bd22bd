/** Opens a file that an episode left. Its name came out of a sandbox, and so did its content. */
import { extname } from 'node:path';
import * as vscode from 'vscode';
import type { RunRef } from '../views/node.js';
import { artifactPath } from './artifactPath.js';

/** Shown as what they are; everything else opens as text, so that no viewer interprets it. */
const PICTURES_AND_SOUND = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp', '.ico', '.mp3', '.wav', '.ogg', '.mp4', '.webm']);

export async function openArtifact(ref: RunRef, episode: number, name: string): Promise<void> {
  const uri = vscode.Uri.file(await artifactPath(ref, episode, name));
  if (PICTURES_AND_SOUND.has(extname(uri.path).toLowerCase())) await vscode.commands.executeCommand('vscode.open', uri);
  else await vscode.commands.executeCommand('vscode.openWith', uri, 'default');
}
