/** The keys of the view, in the order of the list that `?` shows. */
import * as l10n from '@vscode/l10n';

export type Deed =
  | 'next' | 'previous' | 'nextPage' | 'previousPage' | 'first' | 'last' | 'stepOver' | 'stepBack' | 'stepInto' | 'stepOut' | 'nextError' | 'previousError'
  | 'search' | 'sandbox' | 'fork' | 'goTo' | 'raw' | 'copy' | 'link' | 'open' | 'play' | 'slower' | 'faster' | 'content' | 'list' | 'help';

interface Key {
  readonly deed: Deed;
  /** As `KeyboardEvent.key`. */
  readonly on: readonly string[];
  /** As people write them. */
  readonly keys: readonly string[];
  readonly does: () => string;
}

export const KEYS: readonly Key[] = [
  { deed: 'next', on: ['ArrowDown', 'ArrowRight', 'l', 'j'], keys: ['\u2193', '\u2192', 'l', 'j'], does: () => l10n.t('Next step') },
  { deed: 'previous', on: ['ArrowUp', 'ArrowLeft', 'h', 'k'], keys: ['\u2191', '\u2190', 'h', 'k'], does: () => l10n.t('Previous step') },
  { deed: 'nextPage', on: ['PageDown'], keys: ['Page Down'], does: () => l10n.t('A page further') },
  { deed: 'previousPage', on: ['PageUp'], keys: ['Page Up'], does: () => l10n.t('A page back') },
  { deed: 'first', on: ['Home'], keys: ['Home'], does: () => l10n.t('First step') },
  { deed: 'last', on: ['End'], keys: ['End'], does: () => l10n.t('Last step; follows an episode that is running') },
  { deed: 'stepOver', on: [], keys: ['F10'], does: () => l10n.t('Step over: the next step that no subagent took') },
  { deed: 'stepBack', on: [], keys: ['Ctrl+F10'], does: () => l10n.t('Step back over') },
  { deed: 'stepInto', on: [], keys: ['F11'], does: () => l10n.t('Step into: the next step, of a subagent too') },
  { deed: 'stepOut', on: [], keys: ['Shift+F11'], does: () => l10n.t('Step out of the subagent') },
  { deed: 'nextError', on: ['n'], keys: ['n'], does: () => l10n.t('Next error') },
  { deed: 'previousError', on: ['p'], keys: ['p'], does: () => l10n.t('Previous error') },
  { deed: 'search', on: ['/'], keys: ['/', 'Ctrl+F'], does: () => l10n.t('Search the whole trace') },
  { deed: 'goTo', on: ['g'], keys: ['g'], does: () => l10n.t('Go to a step by its number') },
  { deed: 'raw', on: ['r'], keys: ['r'], does: () => l10n.t('The step as it stands in the file, and back') },
  { deed: 'copy', on: ['c'], keys: ['c'], does: () => l10n.t('Copy the step as Markdown') },
  { deed: 'link', on: ['y'], keys: ['y'], does: () => l10n.t('Copy a link to the step') },
  { deed: 'open', on: ['o'], keys: ['o'], does: () => l10n.t('Open the step in an editor') },
  { deed: 'sandbox', on: ['s'], keys: ['s'], does: () => l10n.t('Open a sandbox as it was after the step') },
  { deed: 'fork', on: ['f'], keys: ['f'], does: () => l10n.t('Run episodes that go on from the step') },
  { deed: 'play', on: [' '], keys: ['Space'], does: () => l10n.t('Play, and pause') },
  { deed: 'slower', on: ['<', ','], keys: ['<'], does: () => l10n.t('Slower') },
  { deed: 'faster', on: ['>', '.'], keys: ['>'], does: () => l10n.t('Faster') },
  { deed: 'content', on: ['Enter'], keys: ['Enter'], does: () => l10n.t('Into the content of the step') },
  { deed: 'list', on: ['Escape'], keys: ['Escape'], does: () => l10n.t('Back to the list of steps') },
  { deed: 'help', on: ['?'], keys: ['?'], does: () => l10n.t('This list') },
];

/** The key that VS Code has for its command, too. */
export function isFind({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
  const [modifier, other] = /Mac/.test(navigator.userAgent) ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  return key.toLowerCase() === 'f' && modifier && !other && !altKey && !shiftKey && (target as HTMLElement).closest('dialog') === null;
}

/** What a key does where it is pressed; undefined if it is the key of something else. */
export function deedOf(event: KeyboardEvent): Deed | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return undefined;
  const target = event.target as HTMLElement;
  if (target.closest('input, textarea, dialog, vscode-single-select, rl-splitter')) return undefined;
  const deed = KEYS.find(({ on }) => on.includes(event.key))?.deed;
  const control = target.closest('button, summary, a') !== null;
  if (control && (event.key === ' ' || event.key === 'Enter')) return undefined;
  // In the content, the keys that scroll do so.
  const inContent = target.closest('.step-body') !== null;
  if (inContent && ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'Enter'].includes(event.key)) return undefined;
  return deed;
}
