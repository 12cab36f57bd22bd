/** A real Gymnasium, driven in a sandbox of whichever provider. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { Suite } from 'mocha';
import type { StepEvent, StoredBlob, TraceEvent } from '../../../src/trace/events.js';
import { stepsOf, type Place } from './place.js';

/** An environment of our own, and one of the API before 0.26. */
const MODULE = `
import gymnasium, numpy
class Walk(gymnasium.Env):
    metadata = {'render_modes': ['rgb_array']}
    def __init__(self, length=3, render_mode=None, odd=None):
        self.length, self.render_mode, self.odd = length, render_mode, odd
        self.action_space = gymnasium.spaces.Dict({'left': gymnasium.spaces.Discrete(2), 'by': gymnasium.spaces.Box(0, 1, (2,), numpy.float32)})
        self.observation_space = gymnasium.spaces.Box(0, 255, (16, 24, 3), numpy.uint8)
    def picture(self):
        out = numpy.zeros((16, 24, 3), numpy.uint8)
        out[:, self.at] = (255, 0, 0)
        return out
    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.picture(), {'seed': seed}
    def step(self, action):
        print('this goes to standard error')
        self.at += 1
        if self.odd == 'raise' and self.at == 2: raise RuntimeError('the bridge is out')
        if self.odd == 'exit' and self.at == 2: import os; os._exit(7)
        reward = numpy.array([0.5], numpy.float32) if self.odd != 'nan' else numpy.float64('nan')
        info = {'at': numpy.int64(self.at), 'by': action['by'], 'nothing': numpy.float32('inf')}
        return self.picture(), reward, numpy.bool_(self.at == self.length), False, info
    def render(self): return self.picture()
class Old:
    action_space, observation_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(10)
    def seed(self, seed): self.from_seed = seed
    def reset(self):
        self.steps = 0
        return self.from_seed
    def step(self, action):
        self.steps += 1
        done = self.steps == 2
        return self.steps, action, done, {'TimeLimit.truncated': True} if done and self.from_seed == 1 else {}
    def close(self): pass
`;

export function gymnasium(title: string, open: (suite: Mocha.Context) => Promise<Place>): Suite {
  return describe(title, function () {
    this.timeout(180_000);
    let place: Place;
    before(async function () {
      this.timeout(1_200_000);
      place = await open(this);
      await writeFile(join(place.folder, 'walk.py'), MODULE);
    });
    after(() => place?.close());

    const template = (name: string, policy: string, more = 'reward: return') =>
      place.template(name, `files: [{ from: walk.py, to: /env/walk.py }]\nenv: { PYTHONPATH: /env }\nepisode: { timeout: 60s }\npolicy: { name: gym, ${policy} }\n${more}`);
    const valueOf = <T>({ observation }: StepEvent): T => (observation as unknown as { readonly value: T }).value;
    const start = (events: readonly TraceEvent[]) => stepsOf(events)[0]!;

    it('CartPole at random: seeds decide all of it, and the return is the number of steps', async () => {
      const file = await template('cartpole', 'env: CartPole-v1');
      const [first, second] = [await place.play(file, { seeds: '4' }), await place.play(file, { seeds: '4' })];
      assert.equal(first.run.state, 'done', first.run.error);
      const strip = (events: readonly TraceEvent[]) => stepsOf(events).map(({ action, observation, reward, terminated, truncated }) => ({ action, observation, reward, terminated, truncated }));
      for (const { episode, status, steps, reward } of first.records) {
        assert.deepEqual([status, reward], ['completed', steps]);
        assert.ok(steps > 5);
        assert.deepEqual(strip(first.traces.get(episode)!), strip(second.traces.get(episode)!));
      }
      const events = first.traces.get(1)!;
      const [reset, ...steps] = stepsOf(events);
      assert.deepEqual([reset!.step, reset!.action, reset!.reward], [0, { kind: 'none' }, null]);
      assert.deepEqual((reset!.spaces as { action: object }).action, { type: 'Discrete', n: 2, start: 0 });
      // Gymnasium's own first observation for this seed, see its documentation of CartPole.
      assert.ok(Math.abs(valueOf<number[]>(reset!)[0]! - 0.00118216) < 1e-6);
      assert.deepEqual(steps.map(({ step }) => step), steps.map((_, index) => index + 1));
      assert.deepEqual(steps.map(({ terminated }) => terminated), steps.map((_, index) => index === steps.length - 1));
      assert.ok(first.records.some(({ steps: count }) => count !== first.records[0]!.steps), 'seeds differ');
    });

    it('keeps terminated and truncated apart', async () => {
      const truncated = await place.play(await template('short', 'env: CartPole-v1, kwargs: { max_episode_steps: 5 }, actions: { script: [0, 1, 0, 1, 0, 1] }'));
      assert.deepEqual(truncated.records.map(({ status, cause, steps, reward }) => [status, cause, steps, reward]), [['truncated', 'time_limit: the episode was truncated by its environment', 5, 5]]);
      const last = stepsOf(truncated.traces.get(0)!).at(-1)!;
      assert.deepEqual([last.terminated, last.truncated], [false, true]);
      const fallen = await place.play(await template('constant', 'env: CartPole-v1, actions: { constant: 1 }'));
      assert.deepEqual(fallen.records.map(({ status }) => status), ['completed']);
      assert.ok(stepsOf(fallen.traces.get(0)!).slice(1).every(({ action }) => action.kind === 'value' && action.value === 1));
      const limit = await place.play(await template('limit', 'env: CartPole-v1, max_steps: 3'));
      assert.deepEqual(limit.records.map(({ status, cause, steps }) => [status, cause, steps]), [['truncated', 'max_steps: the episode took 3 steps and did not end', 3]]);
    });

    it('module:Class, with pictures, frames, NumPy values and a space of spaces', async () => {
      const { records, traces, folder } = await place.play(await template('walk', 'env: "walk:Walk", kwargs: { length: 2 }, render: rgb_array, actions: { constant: { left: 1, by: [0.25, 0.5] } }'));
      assert.deepEqual(records.map(({ status, reward, steps }) => [status, reward, steps]), [['completed', 1, 2]], records[0]!.cause);
      const [reset, first] = stepsOf(traces.get(0)!);
      const blob = valueOf<StoredBlob>(reset!);
      assert.deepEqual([blob.mediaType, reset!.frames], ['image/png', [blob]]);
      const png = await readFile(join(folder(0), 'blobs', blob.blob));
      assert.deepEqual([...png.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [24, 16]);
      const data = inflateSync(png.subarray(png.indexOf('IDAT') + 4));
      assert.deepEqual([data.length, ...data.subarray(0, 5)], [16 * (24 * 3 + 1), 0, 255, 0, 0, 0]);
      assert.deepEqual(first!.info, { at: 1, by: [0.25, 0.5], nothing: 'inf' });
      assert.equal(first!.reward, 0.5);
      assert.equal(await readFile(join(folder(0), 'stderr.log'), 'utf8'), 'this goes to standard error\n'.repeat(2));
    });

    it('the API before 0.26: one flag, no info at reset, seeds apart', async () => {
      const { records, traces } = await place.play(await template('old', 'env: "walk:Old", actions: { constant: 2 }'), { seeds: '2' });
      assert.deepEqual(records.map(({ status, reward, steps }) => [status, reward, steps]), [['completed', 4, 2], ['truncated', 4, 2]], records[0]!.cause);
      assert.deepEqual(start(traces.get(1)!).observation, { kind: 'value', value: 1 });
    });

    it('ansi frames', async () => {
      const { traces, folder } = await place.play(await template('lake', 'env: FrozenLake-v1, render: ansi, max_steps: 5'));
      const frame = start(traces.get(0)!).frames![0]!;
      assert.equal(frame.mediaType, 'text/plain');
      assert.match(await readFile(join(folder(0), 'blobs', frame.blob), 'utf8'), /FHFH/);
    });

    it('a vector is unrolled: each lane is recorded until it ends, the return is their mean', async () => {
      const { records, traces } = await place.play(await template('vector', 'env: CartPole-v1, vector: 3'));
      assert.equal(records[0]!.status, 'completed', records[0]!.cause);
      const steps = stepsOf(traces.get(0)!);
      const lanes = [0, 1, 2].map((lane) => steps.filter((step) => step.lane === lane));
      for (const lane of lanes) {
        assert.deepEqual(lane.map(({ step }) => step), lane.map((_, index) => index));
        assert.deepEqual(lane.map(({ terminated }) => terminated), lane.map((_, index) => index === lane.length - 1));
      }
      const returns = lanes.map((lane) => lane.length - 1);
      assert.equal(records[0]!.reward, returns.reduce((sum, each) => sum + each) / 3);
      assert.equal(records[0]!.steps, Math.max(...returns));
      // The same as by itself, since a vector seeds its environments one after the other.
      const alone = await place.play(await template('alone', 'env: CartPole-v1, actions: { constant: 0 }'), { seeds: '3' });
      const together = await place.play(await template('together', 'env: CartPole-v1, vector: 3, actions: { constant: 0 }'));
      const observations = (all: readonly StepEvent[]) => all.map(({ observation }) => observation);
      for (const lane of [0, 1, 2]) assert.deepEqual(observations(stepsOf(together.traces.get(0)!).filter((step) => step.lane === lane)), observations(stepsOf(alone.traces.get(lane)!)));
    });

    it('an environment that breaks is no reward, and the run goes on', async () => {
      for (const [odd, cause] of [['raise', /^environment: .* which broke: RuntimeError: the bridge is out/], ['exit', /^environment: .* its process ended with exit code 7/], ['nan', /^not-finite: /]] as const) {
        const { records, run } = await place.play(await template('odd', `env: "walk:Walk", kwargs: { odd: ${odd} }`), { seeds: '2' });
        assert.equal(run.state, 'done');
        for (const record of records) {
          assert.equal(record.reward, null);
          assert.match(record.cause!, cause);
        }
      }
      for (const [env, cause] of [['NoSuch-v0', /^EnvironmentMissing: cannot make the environment NoSuch-v0: NameNotFound/], ['no_such:Env', /ModuleNotFoundError/]] as const) {
        const { records } = await place.play(await template('none', `env: "${env}"`));
        assert.deepEqual([records[0]!.status, records[0]!.reward, records[0]!.attempts], ['error', null, 1]);
        assert.match(records[0]!.cause!, cause);
      }
    });

    it('is replayed from its trace, to the same observations and rewards', async () => {
      const { run } = await place.play(await template('replayed', 'env: CartPole-v1, kwargs: { max_episode_steps: 20 }'), { seeds: '2' });
      const again = await place.ended(await (await place.engine.replay(run.id)).ended);
      assert.ok(again.records.every(({ cause, steps, reward }) => cause === undefined && steps > 5 && reward === steps), JSON.stringify(again.records));
      const walk = await place.play(await template('walked', 'env: "walk:Walk"'));
      await writeFile(join(place.folder, 'walk.py'), MODULE.replace('[0.5]', '[0.25]'));
      const other = await place.ended(await (await place.engine.replay(walk.run.id)).ended);
      await writeFile(join(place.folder, 'walk.py'), MODULE);
      assert.deepEqual(other.records.map(({ cause }) => cause), ['difference: at step 1 the reward is 0.25, and was 0.5']);
    });

    it('a program on this machine chooses the actions', async () => {
      await writeFile(join(place.folder, 'balance.mjs'), `
import { createInterface } from 'node:readline';
// Pushes to where the pole falls.
for await (const line of createInterface({ input: process.stdin })) {
  const { type, episode, observation } = JSON.parse(line);
  if (type !== 'end') console.log(JSON.stringify({ episode, action: observation[2] + observation[3] > 0 ? 1 : 0 }));
}`);
      const { records } = await place.play(await template('balance', `env: CartPole-v1, actions: { command: ['${process.execPath}', balance.mjs] }`), { seeds: '3' });
      assert.ok(records.every(({ reward }) => reward! > 150), JSON.stringify(records));
    });
  });
}
