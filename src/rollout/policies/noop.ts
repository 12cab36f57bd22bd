import type { PolicyKind } from './policy.js';

/** Does nothing. What is scored is what the snapshot holds: more than 0 says that the verifier can be pleased without a solution. */
export const noop: PolicyKind = () => ({
  description: { name: 'noop' },
  act: async (stage) => {
    await stage.step({ kind: 'none' }, () => Promise.resolve({ observation: { kind: 'none' }, terminated: true }));
    return { status: 'completed' };
  },
});
