import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import type { Place, ToolCall } from '../../../src/protocol/traceView.js';
import { icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { code } from './code.js';
import { diff, replacement } from './diff.js';
import type { StepHost } from './host.js';
import { folded, parts } from './parts.js';

/** Names that tools give to what a shell, or an interpreter, is to run. */
const SHELL = ['command', 'cmd', 'bash', 'shell', 'keystrokes'];
const PROGRAM = ['code', 'script', 'python', 'source'];
/** Names that edit tools give to what is there and to what it becomes. */
const BEFORE = ['old_string', 'old_str', 'oldText', 'old_text', 'search'];
const AFTER = ['new_string', 'new_str', 'newText', 'new_text', 'replace'];
const PATH = ['path', 'file_path', 'filename', 'file'];

const LANGUAGES: Readonly<Record<string, string>> = {
  py: 'python', js: 'javascript', mjs: 'javascript', ts: 'typescript', tsx: 'typescript', json: 'json', yaml: 'yaml', yml: 'yaml', sh: 'bash', md: 'markdown', html: 'xml', xml: 'xml', css: 'css', c: 'c', h: 'c',
  cpp: 'cpp', cc: 'cpp', rs: 'rust', go: 'go', java: 'java', rb: 'ruby', sql: 'sql', toml: 'ini', ini: 'ini', diff: 'diff', patch: 'diff',
};

/** Language of a file by its ending; empty if it is not known. */
export const languageOf = (path: string): string => LANGUAGES[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''] ?? '';

type Arguments = Readonly<Record<string, unknown>>;

const textOf = (values: Arguments, names: readonly string[]): [string, string] | undefined => {
  const name = names.find((each) => typeof values[each] === 'string');
  return name === undefined ? undefined : [name, values[name] as string];
};

/** A command as a shell shows it. */
export function shell(command: string, place: Place | undefined, host: StepHost, prompt = '$'): TemplateResult {
  return html`<div class="shell"><span class="prompt" aria-hidden="true">${prompt}</span>${folded(command, place, host, (text) => code(text, 'bash', host))}</div>`;
}

/** What a tool was called with: commands, code and edits as what they are, the rest by name. */
function callArguments(call: Pick<ToolCall, 'arguments' | 'name'>, place: Place, host: StepHost): unknown {
  const value = call.arguments;
  if (value === undefined || value === null || value === '') return nothing;
  if (typeof value === 'string') return folded(value, place, host, (text) => code(text, /bash|shell|terminal/i.test(call.name) ? 'bash' : '', host));
  if (typeof value !== 'object' || Array.isArray(value)) return html`<rl-json class="json" .value=${value}></rl-json>`;
  const values = value as Arguments;
  const shown = new Set<string>();
  const pieces: unknown[] = [];
  const take = (name: string, piece: unknown) => {
    shown.add(name);
    pieces.push(piece);
  };
  const command = textOf(values, SHELL);
  if (command && !/python/i.test(call.name)) take(command[0], shell(command[1], [...place, command[0]], host));
  const program = textOf(values, PROGRAM);
  if (program) take(program[0], folded(program[1], [...place, program[0]], host, (text) => code(text, /bash|shell/i.test(call.name) ? 'bash' : 'python', host)));
  const path = textOf(values, PATH);
  const before = textOf(values, BEFORE);
  const after = textOf(values, AFTER);
  if (before && after) {
    take(before[0], folded(replacement(before[1], after[1]), undefined, host, diff));
    shown.add(after[0]);
  }
  for (const [name, text] of Object.entries(values)) {
    if (shown.has(name) || typeof text !== 'string' || !text.includes('\n')) continue;
    take(name, html`<div class="argument"><span class="argument-name">${oneLine(name, 60)}</span>${folded(text, [...place, name], host, (part) => code(part, path ? languageOf(path[1]) : '', host))}</div>`);
  }
  const rest = Object.entries(values).filter(([name]) => !shown.has(name));
  const simple = rest.every(([, member]) => typeof member !== 'object' || member === null);
  const named = rest.length === 0 ? nothing : simple ? list(rest) : html`<rl-json class="json" .value=${Object.fromEntries(rest)}></rl-json>`;
  return html`${named}${pieces}`;
}

const list = (values: readonly (readonly [string, unknown])[]) =>
  html`<dl class="arguments">${values.map(([name, value]) => html`<div><dt>${oneLine(name, 60)}</dt><dd>${typeof value === 'string' ? oneLine(value, 2000) : String(value)}</dd></div>`)}</dl>`;

/** A tool call and what came of it. */
export function drawCall(call: ToolCall, place: Place, host: StepHost): TemplateResult {
  const failed = call.error !== undefined || (call.exitCode !== undefined && call.exitCode !== 0);
  return html`<section class="call" aria-label=${l10n.t('Tool call {0}', oneLine(call.name, 60))}>
    <div class="call-head">
      ${icon('tools')}<span class="call-name">${oneLine(call.name, 100)}</span>
      <span class="call-facts figures">
        ${call.ms === undefined ? nothing : html`<span>${format.duration(call.ms)}</span>`}
        ${call.exitCode === undefined ? nothing : html`<span class=${failed ? 'tone-error' : ''}>${l10n.t('exit {0}', call.exitCode)}</span>`}
        ${call.error === undefined || call.error === `exit ${call.exitCode}` ? nothing : html`<span class="tone-error">${oneLine(call.error, 200)}</span>`}
      </span>
    </div>
    ${callArguments(call, [...place, 'arguments'], host)}
    <div class="result">${call.result.length > 0 ? parts(call.result, [...place, 'result'], host) : html`<p class="secondary">${l10n.t('No result was recorded.')}</p>`}</div>
  </section>`;
}
