/** Errors across the wire: the sentence as the message, the rest as data. */
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { BuildFailed, ProviderUnavailable } from '../sandbox/errors.js';
import { TemplateError } from '../template/template.js';
import type { RunnerErrorData } from './api.js';

export function toResponseError(error: unknown): ResponseError<RunnerErrorData> {
  const known = error instanceof Error ? error : new Error(String(error));
  return new ResponseError(ErrorCodes.InternalError, known.message, {
    code: known.name,
    ...(known instanceof ProviderUnavailable && { hint: known.hint }),
    ...(known instanceof TemplateError && { problems: known.problems }),
    ...(known instanceof BuildFailed && { output: known.output }),
  });
}
