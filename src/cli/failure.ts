/** How a command ends: what it prints and which exit code it gives. */
import { getSystemErrorMap } from 'node:util';
import { BuildFailed, ProviderUnavailable } from '../sandbox/errors.js';
import { TemplateError } from '../template/template.js';
import { plain } from './plain.js';

/** Documented in docs/cli.md. */
export const EXIT = { done: 0, failed: 1, usage: 2, unavailable: 3, cancelled: 130 } as const;

/** The words of the command line were wrong. */
export class UsageError extends Error {}

const OUTPUT_LINES = 40;

/** An error of the system as a sentence, which its own message is not. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, syscall, path } = error as NodeJS.ErrnoException;
  const [code, why] = (errno !== undefined && getSystemErrorMap().get(errno)) || [];
  // Where the code does not lead the message, somebody has said it in words of their own.
  if (code === undefined || !error.message.startsWith(`${code}: `)) return error.message;
  return `failed to ${syscall ?? 'go on'}${path === undefined ? '' : ` ${path}`}: ${why} (${code})`;
}

/** What went wrong, for a person: the sentence, then what helps. */
export function describeFailure(error: unknown): string {
  if (error instanceof TemplateError) return `${error.message}\n${error.problems.length === 1 ? '1 problem' : `${error.problems.length} problems`}`;
  const message = plain(sentence(error));
  if (error instanceof ProviderUnavailable) return `error: ${message}\nhint: ${plain(error.hint)}`;
  if (error instanceof BuildFailed && error.output) {
    const lines = plain(error.output).trimEnd().split('\n');
    const cut = lines.length > OUTPUT_LINES ? [`... ${lines.length - OUTPUT_LINES} lines before`] : [];
    return [`error: ${message}`, 'its output:', ...cut, ...lines.slice(-OUTPUT_LINES)].join('\n  ');
  }
  return `error: ${message}`;
}

/** The same as data, for `--json`. */
export function failureObject(error: unknown): Record<string, unknown> {
  const known = error instanceof Error ? error : new Error(String(error));
  return {
    error: {
      code: known.name,
      message: sentence(known),
      ...(known instanceof TemplateError && { problems: known.problems }),
      ...(known instanceof ProviderUnavailable && { hint: known.hint, problem: known.problem }),
      ...(known instanceof BuildFailed && { output: known.output }),
    },
  };
}
