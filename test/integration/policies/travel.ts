/** Back to a step of a trace, on whichever provider: a live sandbox as one was then, and episodes that go on from there. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Suite } from 'mocha';
import type { Held } from '../../../src/engine/sandboxes/held.js';
import { SnapshotGone } from '../../../src/engine/sandboxes/origin.js';
import { openSandboxAt, type TravelRequest } from '../../../src/engine/sandboxes/travel.js';
import { openTrace } from '../../../src/trace/open.js';
import { ModelServer, type Request } from '../../support/modelServer.js';
import { stepsOf, type Place, type Played } from './place.js';
import { REPAIR, repairer } from './repair.js';

/** A program that acts by a list; who comes in the middle says what it knows of what was before. */
const PROGRAM = `
import { createInterface } from 'node:readline';
const actions = ['echo one >> /srv/log', 'cat /srv/log; echo $RL_SEED', 'echo two >> /srv/log; seq 5000', process.argv[2] ?? 'true', 'echo three >> /srv/log'];
const next = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { type, episode, history = [] } = JSON.parse(line);
  if (type === 'end') continue;
  if (type === 'reset') next.set(episode, history.length === 0 ? [...actions] : ['echo ' + history.map(({ observation }) => observation.stdout.length).join(' ') + ' >> /srv/log']);
  const action = next.get(episode).shift();
  console.log(JSON.stringify(action === undefined ? { episode, done: true } : { episode, action }));
}`;

/** `open` may skip. */
export function travel(title: string, open: (suite: Mocha.Context) => Promise<Place>): Suite {
  return describe(title, function () {
    this.timeout(120_000);
    let place: Place;
    before(async function () {
      this.timeout(600_000);
      place = await open(this);
    });
    after(() => place?.close());

    const template = async (more = '') => {
      await writeFile(join(place.folder, 'list.mjs'), PROGRAM);
      return place.template('list', `
setup: [{ run: mkdir -p /srv }]
episode: { timeout: 60s }
reward: { type: exit_code, run: 'test "$(tail -n 1 /srv/log)" = three' }
policy: { name: command, command: ['${process.execPath}', list.mjs${more}] }`);
    };
    const traceOf = ({ folder }: Played, episode = 0) => join(folder(episode), 'trace.jsonl');
    const at = (trace: string, step: number, more: Partial<TravelRequest> = {}) => openSandboxAt(place.engine, { trace, step, keepMs: -1, signal: new AbortController().signal, ...more });
    const output = (held: Held, command: string) => text(held.sandbox.exec(['sh', '-c', command], {}).stdout);

    it('a sandbox is as one was after a step, with the variables of its episode, and lives', async () => {
      const trace = traceOf(await place.play(await template(), { seeds: '17..17' }));
      const taken: [number, number][] = [];
      const { held, step, difference } = await at(trace, 2, { onStep: (...each) => taken.push(each) });
      assert.deepEqual([step, difference, taken], [3, undefined, [[1, 3], [2, 3], [3, 3]]]);
      assert.equal(await output(held, 'cat /srv/log; echo $RL_SEED; touch /srv/mine'), 'one\ntwo\n17\n');
      assert.equal(await output(held, 'ls /srv'), 'log\nmine\n');
      await held.terminate();
    });

    it('says what is another one than was recorded, first, and is there all the same', async () => {
      const trace = traceOf(await place.play(await template(", 'cat /proc/sys/kernel/random/uuid'"), { seeds: '1' }));
      const { held, difference } = await at(trace, 4);
      assert.match(difference!, /^at step 4 standard output is "[0-9a-f-]{36}\\n", and was "[0-9a-f-]{36}\\n"$/);
      assert.equal(await output(held, 'tail -n 1 /srv/log'), 'three\n');
      await held.terminate();
    });

    it('leaves nothing behind when it is cancelled on the way', async () => {
      const trace = traceOf(await place.play(await template(), { seeds: '1' }));
      const stop = new AbortController();
      await assert.rejects(at(trace, 4, { signal: stop.signal, onStep: (step) => step === 2 && stop.abort(new Error('enough')) }), /enough/);
      assert.equal(place.engine.held.size, 0);
      const provider = await place.engine.providers.get(place.provider);
      assert.deepEqual((await provider.list({})).filter(({ labels }) => labels.owner === place.engine.owner), []);
    });

    it('says that the snapshot is gone, and takes what the template builds now if that is wanted', async () => {
      const played = await place.play(await template(), { seeds: '1' });
      await place.engine.deleteSnapshot(played.run.snapshot!.id);
      await assert.rejects(at(traceOf(played), 2), (error: Error) => error instanceof SnapshotGone && /^the snapshot \S+ of list was deleted on \S+; it was used by run #\d+.*; what its template builds now can take its place/.test(error.message));
      await assert.rejects(place.engine.fork({ trace: traceOf(played), step: 2 }), SnapshotGone);
      const { held, difference } = await at(traceOf(played), 2, { current: true });
      assert.equal(difference, undefined);
      await held.terminate();
    });

    it('episodes go on from a step: each begins with what was done, and is scored like any other', async () => {
      const played = await place.play(await template(), { seeds: '17..17' });
      const live = await place.engine.fork({ trace: traceOf(played), step: 2, samples: 2 });
      const { run, records, traces } = await place.ended(await live.ended, live.failure);
      assert.deepEqual(run.fork, { trace: traceOf(played), step: 3, run: played.run.id, episode: 0, snapshot: played.run.snapshot!.id });
      assert.deepEqual(records.map(({ seed, sample, status, cause, steps, reward }) => [seed, sample, status, cause, steps, reward]), [[17, 0, 'completed', undefined, 4, 0], [17, 1, 'completed', undefined, 4, 0]]);
      const [before, after] = [stepsOf(played.traces.get(0)!), stepsOf(traces.get(1)!)];
      assert.deepEqual(after.slice(0, 3).map(({ step, action, observation }) => [step, action, observation]), before.slice(0, 3).map(({ step, action, observation }) => [step, action, observation]));
      // It was told of all that was printed, also where the trace has a blob.
      assert.deepEqual(after[3]!.action, { kind: 'command', command: `echo 0 7 ${[...Array(5000).keys()].map((n) => `${n + 1}\n`).join('').length} >> /srv/log`, language: 'sh' });
      const again = await place.engine.rerun(run.id, undefined);
      assert.deepEqual((await place.ended(await again.ended, again.failure)).records.map(({ steps }) => steps), [4, 4]);
    });

    it('nobody going on scores the state as it is', async () => {
      const trace = traceOf(await place.play(await template(), { seeds: '1' }));
      for (const [step, reward] of [[3, 0], [4, 1]] as const) {
        const live = await place.engine.fork({ trace, step, policy: 'noop' });
        assert.deepEqual((await place.ended(await live.ended, live.failure)).records.map((record) => record.reward), [reward]);
      }
    });

    it('says what cannot be taken up again', async () => {
      const file = join(place.folder, 'made.jsonl');
      const start = { type: 'start', version: 1, at: 1, episode: 0, seed: 0, sample: 0, attempt: 1, template: 'x', provider: place.provider, policy: { name: 'gym' } };
      const step = { type: 'step', at: 2, ms: 1, step: 0, action: { kind: 'none' }, observation: { kind: 'value', value: 1 }, reward: null, terminated: false, truncated: false };
      await writeFile(file, `${JSON.stringify(start)}\n${JSON.stringify(step)}\n`);
      await assert.rejects(place.engine.fork({ trace: file, step: 0 }), /in its process/);
      await assert.rejects(at(file, 0), /the trace names no snapshot/);
      await assert.rejects(at(file, 7), /there is no step 7: the trace has 1, from 0/);
      await writeFile(file, '{"messages": [{"role": "user", "content": "hello"}]}\n');
      await assert.rejects(at(file, 0), /is a trace of the format \S+: only steps that were recorded here can be reached again/);
      await assert.rejects(at(join(place.folder, 'none.jsonl'), 0), /there is no trace/);
    });

    describe('of a model', () => {
      const server = new ModelServer(repairer);
      let url: string;
      before(async () => void (url = await server.start()));
      after(() => server.stop());
      const agent = () => place.template('mended', `${REPAIR}\npolicy: { name: llm, base_url: '${url}', model: rules }`);

      it('goes on with the conversation, without what it cost, and the trace shows each request as it was sent', async () => {
        const played = await place.play(await agent(), { seeds: '1..1' });
        const sent = server.requests.splice(0);
        // The system, the task, two steps.
        const live = await place.engine.fork({ trace: traceOf(played), step: 3, policy: 'llm' });
        const fork = await place.ended(await live.ended, live.failure);
        assert.deepEqual(fork.records.map(({ reward, steps, cause }) => [reward, steps, cause]), [[1, 4, undefined]]);
        // The server counts its calls for their ids.
        const text = (value: unknown) => JSON.stringify(value).replace(/call_\d+/g, 'call');
        const told = (requests: readonly Request[]) => text(requests.map(({ messages }) => messages));
        assert.equal(told(server.requests), told(sent.slice(2)));
        const models = fork.traces.get(0)!.filter((event) => event.type === 'model');
        assert.deepEqual(models.map(({ step, tokens }) => [step, tokens !== undefined]), [[1, false], [2, false], [3, true], [4, true]]);
        const shown = async (trace: string) => {
          const reader = await openTrace(trace);
          const { model } = await reader.step(4);
          await reader.close();
          return text(model!.request);
        };
        assert.equal(await shown(traceOf(fork)), await shown(traceOf(played)));
      });

      it('that comes in the middle is told what was done', async () => {
        const file = await agent();
        const live = await place.engine.start(file, { policy: 'manual', seeds: '1..1', provider: place.provider });
        await live.seats.act(0, { run: "cd /check && sed -i 's/a - b/a * b/' ../w*k/calc.py; echo changed" });
        await live.seats.act(0, { submit: true });
        const byHand = await place.ended(await live.ended, live.failure);
        server.requests.length = 0;
        const fork = await place.engine.fork({ trace: traceOf(byHand), step: 0, policy: 'llm' });
        assert.deepEqual((await place.ended(await fork.ended, fork.failure)).records.map(({ reward, steps }) => [reward, steps]), [[1, 3]]);
        assert.match(server.requests[0]!.messages[2]!.content!, /These commands were run[^]*\$ cd [^]*\nchanged\n$/);
      });
    });
  });
}
