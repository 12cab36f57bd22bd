import { strict as assert } from 'node:assert';
import { RewardFailure } from '../../../src/rollout/rewards/failure.js';

/** Asserts that there is no value, for this reason, and that the sentence says so. */
export function assertFails(work: () => unknown, code: string, message: RegExp): void {
  assert.throws(work, (error) => {
    assert(error instanceof RewardFailure, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}
