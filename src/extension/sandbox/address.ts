/** How a file of a sandbox is called in VS Code: `rl-sandbox://<provider>+<id>/path`; of a snapshot `rl-sandbox-view://<id>/path?snapshot`. Knows nothing of VS Code. */
import { SandboxScheme, SandboxViewScheme } from '../ids.js';
import type { SandboxRef } from '../views/node.js';

export interface AddressParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/** A look at a file that cannot be changed: as the sandbox's snapshot has it, or a part of it. */
export type SandboxView = { readonly original: true } | { readonly offset: number; readonly length: number };

const authorityOf = ({ provider, id }: Pick<SandboxRef, 'provider' | 'id'>): string => `${provider}+${id}`;

/** Without `view`, the file itself. */
export const addressOf = (ref: Pick<SandboxRef, 'provider' | 'id'>, path: string, view?: SandboxView): AddressParts => ({
  scheme: view ? SandboxViewScheme : SandboxScheme,
  authority: authorityOf(ref),
  path,
  query: !view ? '' : 'original' in view ? 'original' : `${view.offset}-${view.length}`,
});

/** As a snapshot has it; its id has no capital letters. */
export const snapshotAddress = (id: string, path: string): AddressParts => ({ scheme: SandboxViewScheme, authority: id, path, query: 'snapshot' });

/** VS Code may have put an authority into lower case. */
export const isAuthorityOf = (authority: string, ref: Pick<SandboxRef, 'provider' | 'id'>): boolean => authorityOf(ref).toLowerCase() === authority.toLowerCase();

/** Undefined if it is not one that is made here. */
export function readView(query: string): SandboxView | { readonly snapshot: true } | undefined {
  if (query === 'original') return { original: true };
  if (query === 'snapshot') return { snapshot: true };
  const [, offset, length] = /^(\d{1,15})-(\d{1,15})$/.exec(query) ?? [];
  return offset === undefined ? undefined : { offset: Number(offset), length: Number(length) };
}
