/** Back to a step of a trace: a live sandbox as one was then, and episodes that go on from there. */
import * as l10n from '@vscode/l10n';
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { RunnerRequests } from '../../runner/api.js';
import { RunnerError } from '../../runner/client.js';
import { mayCost } from '../askCost.js';
import { Failure, reason } from '../failure.js';
import { oneLine } from '../format.js';
import { Commands } from '../ids.js';
import { withCancellableProgress, type Outcome } from '../progress.js';
import { rootOf } from '../roots.js';
import { followRun } from '../runProgress.js';
import type { Services } from '../services.js';
import { defaultConcurrency } from '../settings.js';
import type { RunRef, SandboxRef } from '../views/node.js';
import { actByHand } from './byHand.js';
import { askAll, askPick, askText, checkPositive, type Step } from './multiStep.js';

/** A step as the trace view numbers it. */
interface StepRef {
  readonly file: string;
  readonly step: number;
}

export function registerTravelCommands(services: Services): void {
  const { commander, traceViews } = services;
  // From the palette it is the step that the view in front shows, which calls again with it.
  const target = (view: 'sandbox' | 'fork') => (argument: unknown): StepRef | undefined => {
    if (isStepRef(argument)) return argument;
    if (!traceViews.command(view)) throw new Failure(l10n.t('no trace is open in front'));
    return undefined;
  };
  commander.register(Commands.openSandboxAtStep, {
    target: target('sandbox'),
    needsTrust: true,
    failed: (why) => l10n.t('Failed to open a sandbox at the step: {0}', why),
    run: (ref) => openAtStep(services, ref),
  });
  commander.register(Commands.forkFromStep, {
    target: target('fork'),
    needsTrust: true,
    failed: (why) => l10n.t('Failed to fork from the step: {0}', why),
    run: (ref) => forkFromStep(services, ref),
  });
}

function isStepRef(value: unknown): value is StepRef {
  const ref = value as Partial<StepRef> | null | undefined;
  return typeof ref === 'object' && typeof ref?.file === 'string' && Number.isSafeInteger(ref.step);
}

async function openAtStep(services: Services, { file, step }: StepRef): Promise<SandboxRef | undefined> {
  const { runner, sandboxes } = services;
  const root = rootOf(file);
  const outcome = await orCurrent((current) =>
    withCancellableProgress(l10n.t('Opening a sandbox at the step'), async (signal, report) => {
      const progress = randomUUID();
      const told = runner.on('sandbox/step', (taken) => taken.progress === progress && report({ message: l10n.t('step {0} of {1}', taken.step, taken.of), fraction: taken.step / Math.max(1, taken.of) }));
      try {
        return await runner.request('sandbox/openAt', { root, trace: file, step, current, progress }, { signal });
      } finally {
        told.dispose();
      }
    }),
  );
  if (!outcome || outcome.cancelled) return undefined;
  const { sandbox, difference, step: number } = outcome.value;
  const ref: SandboxRef = { root, id: sandbox.id, provider: sandbox.provider };
  if (difference !== undefined && !(await agrees(number, difference))) {
    await runner.request('sandbox/terminate', ref);
    return undefined;
  }
  sandboxes.took(root, sandbox);
  await vscode.commands.executeCommand(Commands.openSandboxTerminal, ref);
  return ref;
}

async function agrees(step: number, difference: string): Promise<boolean> {
  const open = l10n.t('Open All the Same');
  const question = l10n.t('The sandbox is not as it was after step {0}.', step);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail: oneLine(difference, 400) }, open)) === open;
}

/** Tries again with what the template builds now, if the snapshot is gone and a person says so. */
async function orCurrent<T>(work: (current: boolean) => Promise<T>): Promise<T | undefined> {
  try {
    return await work(false);
  } catch (error) {
    if (!(error instanceof RunnerError) || error.code !== 'SnapshotGone') throw error;
    const use = l10n.t('Use Current Build');
    const chosen = await vscode.window.showWarningMessage(l10n.t('The snapshot of this episode is gone.'), { modal: true, detail: reason(error) }, use);
    return chosen === use ? work(true) : undefined;
  }
}

type Options = RunnerRequests['run/fork']['params']['options'];

async function forkFromStep(services: Services, { file, step }: StepRef): Promise<RunRef | undefined> {
  const { runner } = services;
  const root = rootOf(file);
  const options = await askAll<Options>(l10n.t('Fork from the step'), { samples: 4, concurrency: defaultConcurrency(file) }, [askPolicy, askEpisodes]);
  if (!options || !(await vscode.workspace.saveAll(false))) return undefined;
  const outcome: Outcome<{ id: string }> | undefined = await orCurrent(async (current) => {
    const request = { root, trace: file, step, options: { ...options, current } };
    if (!(await mayCost(await runner.request('run/estimateFork', request)))) return { cancelled: true };
    return withCancellableProgress(l10n.t('Starting a fork'), (signal) => runner.request('run/fork', request, { signal }));
  });
  if (!outcome || outcome.cancelled) return undefined;
  const run = { root, id: outcome.value.id };
  void followRun(services, run);
  if (options.policy === 'manual') await actByHand(services, { ...run, episode: 0 });
  return run;
}

const askPolicy: Step<Options> = async (answers, place) => {
  const own = '';
  const items = [
    { label: l10n.t("The template's own"), value: own },
    { label: 'llm', description: l10n.t('a model goes on with what was said and done'), value: 'llm' },
    { label: 'noop', description: l10n.t('nobody: the state is scored as it is'), value: 'noop' },
    { label: 'oracle', description: l10n.t('the reference solution'), value: 'oracle' },
    { label: 'manual', description: l10n.t('a person, command by command'), value: 'manual' },
  ];
  const answer = await askPick({ ...place, placeholder: l10n.t('Who goes on?'), items, selected: answers.policy ?? own });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, policy: answer.value || undefined } } : answer;
};

const askEpisodes: Step<Options> = async (answers, place) => {
  // One person acts in one of them.
  if (answers.policy === 'manual') return { kind: 'value', value: { ...answers, samples: 1 } };
  const answer = await askText({ ...place, prompt: l10n.t('How many episodes?'), value: String(answers.samples), check: checkPositive(100_000) });
  return answer.kind === 'value' ? { kind: 'value', value: { ...answers, samples: Number(answer.value) } } : answer;
};
