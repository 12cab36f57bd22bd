/** "Run...": episodes, samples, concurrency and provider, with the answers of last time. */
import * as l10n from '@vscode/l10n';
import type { QuickPickItem } from 'vscode';
import type { DoctorReport, RunOptions } from '../../runner/api.js';
import { oneLine } from '../format.js';
import { checkSeeds } from '../seeds.js';
import type { Services } from '../services.js';
import { defaultConcurrency, defaultProvider } from '../settings.js';
import type { TemplateRef } from '../views/node.js';
import { askAll, askPick, askText, checkPositive, type Step } from './multiStep.js';
import { templateName } from './targets.js';

const AUTO = 'auto';

const remembered = (file: string): string => `run.options:${file}`;

/** Undefined when a person gave up. `initial` stands in for the answers of last time. */
export async function askRunOptions({ context, setup }: Services, ref: TemplateRef, initial?: RunOptions): Promise<RunOptions | undefined> {
  const kept = initial ?? context.workspaceState.get<RunOptions>(remembered(ref.file)) ?? {};
  const report = setup.check().catch(() => undefined);
  const steps: readonly Step<RunOptions>[] = [askSeeds, askSamples, (answers, place) => askConcurrency(answers, place, ref.file), async (answers, place) => askProvider(answers, place, await report, ref.file)];
  const options = await askAll(l10n.t('Run {0}', templateName(ref)), kept, steps);
  if (options) await context.workspaceState.update(remembered(ref.file), options);
  return options;
}

const askSeeds: Step<RunOptions> = async (answers, place) => {
  const answer = await askText({
    ...place,
    prompt: l10n.t('Seeds: how many (512), a range (0..511) or a list (3,17,99). Nothing for those of the template.'),
    placeholder: l10n.t('as the template says'),
    value: answers.seeds ?? '',
    check: checkSeeds,
  });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, seeds: answer.value || undefined } } : answer;
};

const askSamples: Step<RunOptions> = async (answers, place) => {
  const check = checkPositive(100_000);
  const answer = await askText({
    ...place,
    prompt: l10n.t('Episodes for each seed. Nothing for as many as the template says.'),
    placeholder: l10n.t('as the template says'),
    value: answers.samples === undefined ? '' : String(answers.samples),
    check: (text) => (text.trim() === '' ? undefined : check(text)),
  });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, samples: answer.value ? Number(answer.value) : undefined } } : answer;
};

async function askConcurrency(answers: RunOptions, place: Parameters<Step<RunOptions>>[1], file: string): ReturnType<Step<RunOptions>> {
  const answer = await askText({ ...place, prompt: l10n.t('How many episodes at once?'), value: String(answers.concurrency ?? defaultConcurrency(file)), check: checkPositive(4096) });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, concurrency: Number(answer.value) } } : answer;
}

async function askProvider(answers: RunOptions, place: Parameters<Step<RunOptions>>[1], report: DoctorReport | undefined, file: string): ReturnType<Step<RunOptions>> {
  const auto: QuickPickItem & { value: string } = { label: l10n.t('Automatic'), description: report?.chosen ? l10n.t('now {0}: {1}', report.chosen.id, report.chosen.why) : undefined, value: AUTO };
  const items = (report?.providers ?? []).map(({ id, title, ok, summary }) => ({ label: title, description: oneLine(ok ? summary : l10n.t('not available: {0}', summary)), value: id }));
  const answer = await askPick({ ...place, placeholder: l10n.t('Where do the sandboxes live?'), items: [auto, ...items], selected: answers.provider ?? defaultProvider(file) ?? AUTO });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, provider: answer.value } } : answer;
}
