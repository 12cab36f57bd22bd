/** Errors across the wire: the sentence as the message, the rest as data. */
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { BuildFailed, ProviderUnavailable } from '../sandbox/errors.js';
import { TemplateError } from '../template/template.js';
import type { RunnerErrorData, Work } from './api.js';

/** The runner is about to be replaced, and starts nothing. */
export class Retiring extends Error {
  constructor({ runs, kept }: Work) {
    const what = [...(runs > 0 ? [`${runs} ${runs === 1 ? 'run' : 'runs'}`] : []), ...(kept > 0 ? [`${kept} kept ${kept === 1 ? 'sandbox' : 'sandboxes'}`] : [])];
    super(`an older engine is still at work (${what.join(' and ') || 'it is about to end'}) and starts nothing else; try again when that has ended`);
    this.name = 'Retiring';
  }
}

export class Ending extends Error {
  constructor() {
    super('the engine is ending');
    this.name = 'Ending';
  }
}

export class UnknownMethod extends Error {
  constructor(method: string) {
    super(`the engine knows no "${method.slice(0, 60)}"`);
    this.name = 'UnknownMethod';
  }
}

export function toResponseError(error: unknown): ResponseError<RunnerErrorData> {
  const known = error instanceof Error ? error : new Error(String(error));
  return new ResponseError(ErrorCodes.InternalError, known.message, {
    code: known.name,
    ...(known instanceof ProviderUnavailable && { hint: known.hint }),
    ...(known instanceof TemplateError && { problems: known.problems }),
    ...(known instanceof BuildFailed && { output: known.output }),
  });
}
