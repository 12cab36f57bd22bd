/** Which engine a program is, so that an updated one takes the place of an older one and never the other way round. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { VERSION } from '../engine/version.js';

/** Changes when a message of the protocol changes its meaning. */
export const PROTOCOL = 1;

export interface Identity {
  readonly protocol: number;
  readonly version: string;
  /** Digest of the program; all that it loads is named in it by digest. */
  readonly build: string;
  /** When the program was written, in ms: tells which of two builds of a version is the newer. */
  readonly builtAt: number;
}

export async function identityOf(script: string): Promise<Identity> {
  const [text, { mtimeMs }] = await Promise.all([readFile(script), stat(script)]);
  return { protocol: PROTOCOL, version: VERSION, build: createHash('sha256').update(text).digest('hex').slice(0, 12), builtAt: Math.round(mtimeMs) };
}

/** Whether `mine` should take the place of `running`. Of two that differ at most one is newer: they never replace each other in turn. */
export function isNewer(mine: Identity, running: Identity): boolean {
  if (mine.version !== running.version) return compareVersions(mine.version, running.version) > 0;
  return mine.build !== running.build && mine.builtAt > running.builtAt;
}

/** As numbers part by part; what follows a hyphen comes before the version without it. */
function compareVersions(a: string, b: string): number {
  const [[one, preA], [other, preB]] = [a, b].map((text) => text.split('-', 2) as [string, string?]) as [[string, string?], [string, string?]];
  const [left, right] = [one, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference) return difference;
  }
  return preA === preB ? 0 : preA === undefined ? 1 : preB === undefined ? -1 : preA < preB ? -1 : 1;
}
