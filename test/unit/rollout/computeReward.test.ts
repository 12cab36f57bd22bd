import { strict as assert } from 'node:assert';
import { OutputCapture } from '../../../src/rollout/output.js';
import { computeReward, type RewardContext } from '../../../src/rollout/rewards/index.js';
import type { RewardOutcome } from '../../../src/store/records.js';
import { templateSchema } from '../../../src/template/schema.js';
import type { Template } from '../../../src/template/template.js';

/** Scores an episode by what it printed and its exit code alone; its sandbox may not be touched. */
function score(reward: readonly object[], stdout: string, { exitCode, rewardRange }: { exitCode?: number; rewardRange?: readonly [number, number] } = {}): Promise<RewardOutcome> {
  const untouchable = new Proxy({}, { get: (_, name) => assert.fail(`the sandbox's ${String(name)} was used`) });
  const capture = new OutputCapture();
  capture.write(Buffer.from(stdout));
  const template = { reward: templateSchema.parse({ name: 'test', episode: { run: 'true' }, reward }).reward, rewardRange } as unknown as Template;
  const context = { sandbox: untouchable, stdout: capture, exitCode, signal: new AbortController().signal } as unknown as RewardContext;
  return computeReward(template, context);
}

describe('the reward of an episode, from its output and exit code', () => {
  it('is its last line, and its sandbox is left alone', async () => {
    assert.deepEqual(await score([{ type: 'stdout' }], 'hello\n0.5\n'), { reward: 0.5, components: [{ name: 'stdout', weight: 1, value: 0.5 }] });
  });

  it('is whether it succeeded', async () => {
    assert.deepEqual(await score([{ type: 'exit_code' }], '', { exitCode: 0 }), { reward: 1, components: [{ name: 'exit_code', weight: 1, value: 1, detail: 'exit code 0' }] });
    assert.equal((await score([{ type: 'exit_code' }], '', { exitCode: 127 })).reward, 0);
  });

  it('is null without an exit code', async () => {
    assert.deepEqual((await score([{ type: 'exit_code' }], '')).problem, { code: 'missing', message: 'the episode was cut short, so it has no exit code' });
  });

  it('is null with its reason', async () => {
    const outcome = await score([{ type: 'stdout' }], 'reward: 0.5\n');
    assert.equal(outcome.reward, null);
    assert.deepEqual(outcome.problem, { code: 'not-numeric', message: 'the last line of standard output is "reward: 0.5", not a number; print only the number: 0.5' });
    assert.deepEqual(outcome.components, [{ name: 'stdout', weight: 1, value: null, problem: outcome.problem }]);
  });

  it('is null outside its range, and at its ends it is not', async () => {
    const rewardRange = [-1, 1] as const;
    assert.deepEqual((await score([{ type: 'stdout' }], '1.5', { rewardRange })).problem, { code: 'out-of-range', message: 'the reward is 1.5, outside the range from -1 to 1' });
    assert.equal((await score([{ type: 'stdout' }], '1', { rewardRange })).reward, 1);
    assert.equal((await score([{ type: 'stdout' }], '-1', { rewardRange })).reward, -1);
  });

  it('has the range of the sum, not of a component', async () => {
    assert.equal((await score([{ type: 'stdout', weight: 0.1 }], '10', { rewardRange: [0, 1] })).reward, 1);
  });

  it('is null where the sum overflows', async () => {
    const outcome = await score([{ type: 'stdout', weight: 1e308 }], '1e10');
    assert.equal(outcome.reward, null);
    assert.equal(outcome.problem!.code, 'not-finite');
    assert.equal(outcome.components[0]!.value, 1e10);
  });

  it('is 0, not -0', async () => assert(Object.is((await score([{ type: 'stdout', weight: -1 }], '0')).reward, 0)));

  it('is plain JSON', async () => {
    const outcome = await score([{ type: 'stdout' }, { type: 'exit_code' }], '1', { exitCode: 1 });
    assert.deepEqual(JSON.parse(JSON.stringify(outcome)), outcome);
  });
});
