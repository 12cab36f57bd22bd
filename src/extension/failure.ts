/** What a person reads when something did not work, and what they can do about it. Knows nothing of VS Code. */
import * as l10n from '@vscode/l10n';
import type { Problem } from '../template/template.js';
import { RunnerError } from '../runner/client.js';
import { oneLine } from './format.js';
import { Commands, InternalCommands } from './ids.js';

/** A button: a command of VS Code or of ours. */
export interface Remedy {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** A failure whose reason is already a phrase for a person, with the remedy that goes with it. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly remedy?: Remedy,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'Failure';
  }
}

/** Whether it only says that someone changed their mind: then nothing is shown. */
export const isCancellation = (error: unknown): boolean =>
  error instanceof Error && (['AbortError', 'Canceled', 'CancellationError', 'RunCancelled'].includes(error.name) || (error instanceof RunnerError && error.code === 'RunCancelled'));

/** The reason as one line, for the end of `Failed to <verb> <object>: `. */
export function reason(error: unknown): string {
  if (error instanceof RunnerError && error.problems?.[0]) {
    const [first, ...more] = error.problems;
    const text = l10n.t('line {0}: {1}', first.line, first.message);
    return oneLine(more.length ? l10n.t('{0} (and {1} more)', text, more.length) : text, 300);
  }
  const text = error instanceof Error ? error.message : String(error);
  const hint = error instanceof RunnerError && error.hint ? `. ${error.hint}` : '';
  return oneLine(text + hint, 400) || l10n.t('unknown reason');
}

/** The button that helps, where there is one. */
export function remedy(error: unknown): Remedy | undefined {
  if (error instanceof Failure) return error.remedy;
  if (!(error instanceof RunnerError)) return undefined;
  switch (error.code) {
    case 'ProviderUnavailable':
      return { title: l10n.t('Check Setup'), command: Commands.doctor };
    case 'Untrusted':
      return { title: l10n.t('Manage Workspace Trust'), command: 'workbench.trust.manage' };
    case 'TemplateError':
      return error.problems?.[0] && goTo(error.problems[0]);
    case 'ConnectionClosed':
    case 'StartFailed':
    case 'GivenUp':
    case 'Timeout':
      return { title: l10n.t('Restart Engine'), command: Commands.restartEngine };
    default:
      return undefined;
  }
}

const goTo = ({ file, line, column }: Problem): Remedy => ({ title: l10n.t('Go to Problem'), command: InternalCommands.openProblem, arguments: [{ file, line, column }] });

/** All that is known, for the log. */
export function details(error: unknown): string {
  const lines = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  if (error instanceof RunnerError) {
    for (const { file, line, column, message } of error.problems ?? []) lines.push(`${file}:${line}:${column}: ${message}`);
    if (error.output) lines.push(error.output);
  }
  return lines.join('\n');
}
