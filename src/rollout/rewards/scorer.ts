import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractArchive } from '../../sandbox/archive.js';
import { LimitExceeded } from '../../sandbox/errors.js';
import type { Template } from '../../template/template.js';
import { hostEnvironment } from '../hostEnvironment.js';
import { OutputCapture } from '../output.js';
import { withDeadline } from './deadline.js';
import { fail } from './failure.js';
import { runHostProgram } from './hostProgram.js';
import type { RewardContext, RewardKind } from './kind.js';
import { parsePrinted } from './printed.js';
import { episodeEnvironment, lastWordsOf } from './verifier.js';

const MAX_BYTES = 256 << 20;
const MAX_FILES = 10_000;

/** What a program on this machine prints of the downloaded files: a number, or an object as in `reward.json`. */
export const scorer: RewardKind<'scorer'> = async (spec, context, template) => {
  const { signal } = context;
  const folder = await mkdtemp(join(tmpdir(), 'rl-sandboxes-scorer-'));
  try {
    const archive = await context.sandbox.files.download(spec.files, { signal });
    await extractArchive(archive, folder, { maxBytes: MAX_BYTES, maxFiles: MAX_FILES, signal }).catch(tooLarge);
    const [stdout, stderr] = [new OutputCapture(), new OutputCapture()];
    const options = { cwd: template.directory, env: environment(folder, context, template) };
    const outcome = await withDeadline(signal, spec.timeout, 'the scorer', (deadline) =>
      runHostProgram(spec.command, { ...options, clean: context.clean, stdout: [stdout, context.verifierOutput], stderr: [stderr, context.verifierOutput] }, deadline),
    );
    const lastWords = lastWordsOf(stderr) || lastWordsOf(stdout);
    if (outcome !== 0) fail('verifier-failed', `the scorer ended with ${typeof outcome === 'number' ? `exit code ${outcome}` : `the signal ${outcome}`}${lastWords}`);
    return parsePrinted(stdout, "the scorer's standard output");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** An episode that leaves too much would do so again. */
function tooLarge(error: unknown): never {
  if (error instanceof LimitExceeded) fail('too-large', `the files to score are too many or too large: ${error.message}`);
  throw error;
}

function environment(folder: string, context: RewardContext, template: Template): Record<string, string> {
  return { ...hostEnvironment(context.environment), ...template.env, ...context.secrets, ...episodeEnvironment(context), RL_FILES: folder };
}
