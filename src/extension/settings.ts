/** The settings, each read where it is used: a change counts from the next use on. */
import * as vscode from 'vscode';
import { Settings, type SettingId } from './ids.js';

const read = <T>(id: SettingId, file: string | undefined): T | undefined =>
  vscode.workspace.getConfiguration(undefined, file === undefined ? undefined : vscode.Uri.file(file)).get<T>(id);

/** Undefined for `auto`: the engine then takes the best that answers. */
export function defaultProvider(file?: string): string | undefined {
  const provider = read<string>(Settings.provider, file);
  return provider === 'auto' ? undefined : provider;
}

/** How many episodes run at once, unless a run says otherwise. */
export function defaultConcurrency(file?: string): number {
  const value = read<number>(Settings.concurrency, file);
  return value !== undefined && Number.isSafeInteger(value) && value >= 1 ? value : 64;
}

/** Dollars that a run may be likely to cost before a person is asked. */
export function askAbove(): number {
  const value = read<number>(Settings.askAbove, undefined);
  return value !== undefined && value >= 0 ? value : 1;
}

/** How long the engine stays when nothing needs it, in milliseconds. */
export function idleTimeoutMs(): number | undefined {
  const minutes = read<number>(Settings.idleTimeout, undefined);
  return minutes !== undefined && Number.isFinite(minutes) && minutes >= 0 ? minutes * 60_000 : undefined;
}
