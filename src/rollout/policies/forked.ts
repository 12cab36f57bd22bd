/** A policy that goes on where a recorded trace was after a step. */
import { retrace } from '../retrace/retrace.js';
import type { Policy } from './policy.js';

export interface Fork {
  /** Path of the trace. */
  readonly trace: string;
  /** Number of the last step that is taken again. */
  readonly step: number;
}

/** Each of its episodes begins with the steps of the trace; where something else comes of them than was recorded, that is the episode's cause if it has no other. */
export const forked = (policy: Policy, { trace, step }: Fork): Policy => ({
  ...policy,
  description: { ...policy.description, fork: { trace, step } },
  act: async (stage) => {
    const { difference, exitCode, past } = await retrace(stage, trace, { to: step, messages: true });
    stage.past = past;
    const ending = await policy.act(stage);
    return { ...ending, cause: ending.cause ?? difference, exitCode: ending.exitCode ?? exitCode };
  },
});
