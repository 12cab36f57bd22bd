/** The keys of the page, in the order in which they are shown. */
import * as l10n from '@vscode/l10n';

export type Deed = 'next' | 'previous' | 'nextPage' | 'previousPage' | 'first' | 'last' | 'nextDifference' | 'previousDifference' | 'actions' | 'text' | 'open';

interface Key {
  readonly deed: Deed;
  /** As `KeyboardEvent.key`. */
  readonly on: readonly string[];
  /** As people write it; absent for one that everybody tries. */
  readonly key?: string;
  readonly does: () => string;
}

export const KEYS: readonly Key[] = [
  { deed: 'nextDifference', on: ['n'], key: 'n', does: () => l10n.t('next difference') },
  { deed: 'previousDifference', on: ['p'], key: 'p', does: () => l10n.t('previous difference') },
  { deed: 'actions', on: ['a'], key: 'a', does: () => l10n.t('only actions') },
  { deed: 'text', on: ['d'], key: 'd', does: () => l10n.t('as texts') },
  { deed: 'open', on: ['Enter'], key: 'Enter', does: () => l10n.t('open the traces') },
  { deed: 'next', on: ['ArrowDown', 'ArrowRight', 'l', 'j'], does: () => '' },
  { deed: 'previous', on: ['ArrowUp', 'ArrowLeft', 'h', 'k'], does: () => '' },
  { deed: 'nextPage', on: ['PageDown'], does: () => '' },
  { deed: 'previousPage', on: ['PageUp'], does: () => '' },
  { deed: 'first', on: ['Home'], does: () => '' },
  { deed: 'last', on: ['End'], does: () => '' },
];

/** What a key does where it is pressed; undefined if it is the key of something else. */
export function deedOf(event: KeyboardEvent): Deed | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return undefined;
  const target = event.target as HTMLElement;
  if (target.closest('rl-splitter')) return undefined;
  if (target.closest('button, summary, a') && (event.key === 'Enter' || event.key === ' ')) return undefined;
  // In the content, the keys that scroll do so.
  if (target.closest('.step-body') && /^(Arrow|Page|Home|End|Enter)/.test(event.key)) return undefined;
  return KEYS.find(({ on }) => on.includes(event.key))?.deed;
}
