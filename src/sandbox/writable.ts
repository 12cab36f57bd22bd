import type { SandboxSpec } from './provider.js';

/** The folders that a sandbox with a read-only root can write to, none within another; undefined if it can write anywhere. */
export function writableFolders({ writable, workdir }: Pick<SandboxSpec, 'writable' | 'workdir'>, ownWorkdir: string | undefined): string[] | undefined {
  if (writable === undefined) return undefined;
  const all = [...new Set(['/tmp', workdir ?? ownWorkdir ?? '/', ...writable])].filter((folder) => folder !== '/');
  return all.filter((folder) => !all.some((other) => folder.startsWith(`${other}/`)));
}
