import * as l10n from '@vscode/l10n';
import { type TemplateResult, html, nothing } from 'lit';
import type { BlobRef, FileChange, Part, StepDetail } from '../../../src/protocol/traceView.js';
import { icon } from '../../element.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { kindWord, sourceWord } from '../words.js';
import { drawCall, shell } from './call.js';
import { diff } from './diff.js';
import type { StepHost } from './host.js';
import { folded, parts } from './parts.js';

/** A step as people read it: who said what, what was done, what was seen, what it earned. */
export function stepView(step: StepDetail, host: StepHost): TemplateResult {
  return html`
    ${block(sourceWord(step.source), step.message && parts(step.message, ['message'], host), step.source)}
    ${step.reasoning?.length
      ? block(l10n.t('thinking'), html`<details class="reasoning" ?open=${!step.message?.length}><summary>${l10n.t('Reasoning')}</summary>${parts(step.reasoning, ['reasoning'], host)}</details>`)
      : nothing}
    ${step.calls?.map((call, index) => block(index === 0 ? l10n.t('calls') : '', drawCall(call, ['calls', index], host)))}
    ${block(l10n.t('action'), step.action && action(step.action, host))}
    ${block(l10n.t('observation'), step.observation?.length ? parts(step.observation, ['observation'], host) : undefined)}
    ${block(l10n.t('frames'), step.frames?.length ? frames(step.frames, step, host) : undefined)}
    ${step.pending ? html`<p class="pending">${icon('loading', 'codicon-modifier-spin')} ${l10n.t('The step is going on.')}</p>` : nothing}
    ${block(l10n.t('reward'), step.components?.length ? components(step) : undefined)}
    ${block(l10n.t('files'), step.files?.length ? files(step.files, host) : undefined)}
    ${block(l10n.t('info'), step.info === undefined || isEmpty(step.info) ? undefined : html`<rl-json class="json" .value=${step.info}></rl-json>`)}
    ${block(l10n.t('model'), step.model && modelCall(step))}`;
}

const isEmpty = (value: unknown) => value === null || (typeof value === 'object' && Object.keys(value).length === 0);

function block(label: string, content: unknown, source = ''): TemplateResult | typeof nothing {
  if (content === undefined || content === nothing || (Array.isArray(content) && content.length === 0)) return nothing;
  return html`<div class="block" data-source=${source}><h3 class="block-label">${label}</h3><div class="block-content">${content}</div></div>`;
}

/** A shell command has its prompt. */
function action(content: readonly Part[], host: StepHost): unknown {
  const [first] = content;
  if (content.length === 1 && first?.type === 'code' && /^(sh|bash|shell)$/.test(first.language)) return shell(first.text, ['action', 0], host);
  return parts(content, ['action'], host);
}

/** One frame large, the others beside it. */
function frames(all: readonly BlobRef[], step: StepDetail, host: StepHost): TemplateResult {
  return html`<div class="frames">${all.map((frame, index) => html`<rl-image .image=${frame} .alt=${l10n.t('Frame {0} of step {1}', index + 1, step.label)} .host=${host}></rl-image>`)}</div>`;
}

function components({ components = [], reward }: StepDetail): TemplateResult {
  return html`<table class="components">
    <thead><tr><th scope="col">${l10n.t('component')}</th><th scope="col" class="numeric">${l10n.t('value')}</th><th scope="col" class="numeric">${l10n.t('weight')}</th><th scope="col">${l10n.t('why')}</th></tr></thead>
    <tbody>
      ${components.map(
        ({ name, value, weight, detail }) => html`<tr><th scope="row">${oneLine(name, 100)}</th><td class="numeric">${value === null ? format.NONE : format.edge(value)}</td><td class="numeric">${weight === undefined ? format.NONE : format.edge(weight)}</td><td>${detail === undefined ? nothing : oneLine(detail, 1000)}</td></tr>`,
      )}
    </tbody>
    ${reward === undefined ? nothing : html`<tfoot><tr><th scope="row">${l10n.t('reward')}</th><td class="numeric">${reward === null ? format.NONE : format.edge(reward)}</td><td></td><td></td></tr></tfoot>`}
  </table>`;
}

function files(changes: readonly FileChange[], host: StepHost): TemplateResult {
  const icons = { added: 'diff-added', modified: 'diff-modified', removed: 'diff-removed' } as const;
  const words = { added: l10n.t('added'), modified: l10n.t('modified'), removed: l10n.t('removed') };
  return html`<ul class="files">
    ${changes.map(({ path, change, added, removed, diff: text }, index) => {
      const name = html`${icon(icons[change])}<span class="hidden">${words[change]}</span> <span class="path">${oneLine(path, 400)}</span>
        <span class="figures">${added === undefined ? nothing : html`<span class="diff-count-added">+${format.integer(added)}</span>`} ${removed === undefined ? nothing : html`<span class="diff-count-removed">\u2212${format.integer(removed)}</span>`}</span>`;
      return html`<li>${text === undefined ? name : html`<details><summary>${name}</summary>${folded(text, ['files', index, 'diff'], host, diff)}</details>`}</li>`;
    })}
  </ul>`;
}

function modelCall({ model, tokens, cost }: StepDetail): TemplateResult {
  const facts: [string, string | undefined][] = [
    [l10n.t('model'), model?.model],
    [l10n.t('address'), model?.url],
    [l10n.t('prompt tokens'), tokens?.prompt === undefined ? undefined : format.integer(tokens.prompt)],
    [l10n.t('cached'), tokens?.cached === undefined ? undefined : format.integer(tokens.cached)],
    [l10n.t('completion tokens'), tokens?.completion === undefined ? undefined : format.integer(tokens.completion)],
    [l10n.t('cost'), cost === undefined ? undefined : money(cost)],
    [l10n.t('ended by'), model?.finishReason],
    [l10n.t('attempts'), model?.attempts === undefined ? undefined : String(model.attempts)],
  ];
  return html`<dl class="arguments">${facts.map(([name, value]) => (value === undefined ? nothing : html`<div><dt>${name}</dt><dd class="figures">${oneLine(value, 400)}</dd></div>`))}</dl>
    ${model?.request === undefined ? nothing : html`<details class="request"><summary>${l10n.t('Request')}</summary><rl-json class="json" .value=${model.request}></rl-json></details>`}`;
}

/** US dollars, in as many digits as a small call needs. */
export const money = (cost: number): string => `$${cost >= 1 ? cost.toFixed(2) : cost >= 0.001 ? cost.toFixed(3) : cost === 0 ? '0' : cost.toPrecision(2)}`;

/** What stands beside the title of a step. */
export function stepFacts(step: StepDetail): TemplateResult {
  return html`<span>${kindWord(step.kind).text}</span>
    ${step.ms === undefined ? nothing : html`<span>${format.duration(step.ms)}</span>`}
    ${step.error === undefined ? nothing : html`<span class="tone-error">${icon('error')} ${oneLine(step.error, 200)}</span>`}
    ${step.reward === undefined || (step.reward === null && step.kind !== 'verifier') ? nothing : html`<span>${step.reward === null ? l10n.t('no reward') : l10n.t('reward {0}', format.edge(step.reward))}</span>`}
    ${step.terminated ? html`<span>${l10n.t('terminated')}</span>` : nothing} ${step.truncated ? html`<span class="tone-warning">${l10n.t('truncated')}</span>` : nothing}
    ${step.tokens === undefined ? nothing : html`<span>${l10n.t('{0} in, {1} out', format.integer(step.tokens.prompt ?? 0), format.integer(step.tokens.completion ?? 0))}</span>`}
    ${step.cost === undefined ? nothing : html`<span>${money(step.cost)}</span>`}`;
}
