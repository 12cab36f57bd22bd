import { discard } from '../teardown.js';
import { fail } from './failure.js';
import type { RewardKind } from './kind.js';
import { parsePrinted } from './printed.js';
import { requireSuccess, runVerifier } from './verifier.js';

/** Where the files of the episode's sandbox lie in the one that scores. */
const INPUT = '/input';

/** What a command in a second sandbox prints of the first one's files: a number, or an object as in `reward.json`. */
export const sandbox: RewardKind<'sandbox'> = async (spec, context) => {
  if (spec.run === undefined && spec.python === undefined) fail('verifier-failed', 'there is neither `run` nor `python` to score with');
  const { signal } = context;
  const scoring = await context.openScoringSandbox(spec, signal);
  try {
    const archive = await context.sandbox.files.download(spec.files, { signal });
    await scoring.files.upload(archive, INPUT, { signal });
    const verdict = await runVerifier(scoring, spec, context, { env: { RL_FILES: INPUT } });
    requireSuccess(verdict);
    return parsePrinted(verdict.stdout, "the scoring sandbox's standard output");
  } finally {
    await discard(scoring);
  }
};
