import { fail } from './failure.js';
import type { RewardKind } from './kind.js';
import { verify } from './verifier.js';

/** What a shell says where it could not run the command at all: a fault of the verifier, not a verdict. */
const NOT_RUN: Readonly<Record<number, string>> = { 126: 'it could not be executed', 127: 'a command was not found' };

/** 1 if the exit code is 0, else 0: of the verifier if there is one, else of the episode. */
export const exitCode: RewardKind<'exit_code'> = async (spec, context) => {
  const verdict = await verify(spec, context);
  if (verdict && NOT_RUN[verdict.code]) fail('verifier-failed', `the verifier ended with exit code ${verdict.code}: ${NOT_RUN[verdict.code]}${verdict.lastWords}`);
  const code = verdict ? verdict.code : context.exitCode;
  if (code === undefined) fail('missing', 'the episode was cut short, so it has no exit code');
  return { value: code === 0 ? 1 : 0, detail: `exit code ${code}` };
};
