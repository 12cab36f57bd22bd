import { type TemplateResult, html } from 'lit';
import { visible } from './code.js';

/** Lines shown of a diff; more is for an editor. */
const MOST_LINES = 5000;

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|diff |index |new file|deleted file|similarity|rename )/.test(line)) return 'diff-file';
  if (line.startsWith('@@')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : 'diff-same';
}

/** A unified diff, its lines in the colours of VS Code's diff editor. */
export function diff(text: string): TemplateResult {
  const lines = visible(text).replace(/\n$/, '').split('\n').slice(0, MOST_LINES);
  return html`<pre class="diff">${lines.map((line) => html`<span class=${kindOf(line)}>${line}\n</span>`)}</pre>`;
}

/** What a call replaces, as a diff: the old lines, then those in their place. */
export function replacement(before: string, after: string): string {
  const old = before === '' ? [] : before.split('\n');
  const next = after === '' ? [] : after.split('\n');
  let same = 0;
  while (same < old.length && same < next.length && old[same] === next[same]) same++;
  let end = 0;
  while (end < old.length - same && end < next.length - same && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
  return [
    ...old.slice(0, same).map((line) => ` ${line}`),
    ...old.slice(same, old.length - end).map((line) => `-${line}`),
    ...next.slice(same, next.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end).map((line) => ` ${line}`),
  ].join('\n');
}
