/** Takes the actions of a recorded trace again, to its end. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TRACE_FILE } from '../../trace/writer.js';
import { retrace } from '../retrace/retrace.js';
import type { PolicyKind } from './policy.js';

export const replay: PolicyKind = async ({ trace }) => {
  if (trace === undefined) throw new Error('the policy `replay` needs a trace: `rl-sandboxes replay RUN`, or `run TEMPLATE --policy replay --trace FILE`');
  const folder = await stat(trace).then((found) => found.isDirectory(), () => {
    throw new Error(`there is no trace ${trace}`);
  });
  return {
    description: { name: 'replay', trace },
    act: async (stage) => {
      const { difference, exitCode } = await retrace(stage, folder ? join(trace, 'episodes', String(stage.id.episode), TRACE_FILE) : trace);
      return { status: 'completed', ...(difference === undefined ? {} : { cause: difference }), ...(exitCode === undefined ? {} : { exitCode }) };
    },
  };
};
