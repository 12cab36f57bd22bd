import { strict as assert } from 'node:assert';
import { CreationLimiter } from '../../../src/sandbox/remote/limiter.js';

const signal = new AbortController().signal;
/** Whether it has happened once all that waits for nothing but its turn has had it. */
const soon = async (promise: Promise<unknown>): Promise<boolean> => {
  let happened = false;
  void promise.then(() => (happened = true), () => undefined);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return happened;
};

describe('the limiter of creations', () => {
  it('has as many places as are allowed, first come, first served', async () => {
    const limiter = new CreationLimiter({ perSecond: 1000, concurrent: 2 });
    const [one] = [await limiter.enter(signal), await limiter.enter(signal)];
    const [third, fourth] = [limiter.enter(signal), limiter.enter(signal)];
    assert.equal(await soon(third), false);
    one.release();
    one.release();
    assert.equal(await soon(third), true);
    assert.equal(await soon(fourth), false, 'a place that was given back twice is one place');
    (await third).release();
    assert.equal(await soon(fourth), true);
  });

  it('forgets who has given up', async () => {
    const limiter = new CreationLimiter({ perSecond: 1000, concurrent: 1 });
    const held = await limiter.enter(signal);
    const abort = new AbortController();
    const given = limiter.enter(abort.signal);
    const next = limiter.enter(signal);
    abort.abort(new Error('no longer'));
    await assert.rejects(given, /no longer/);
    held.release();
    assert.equal(await soon(next), true);
  });

  it('keeps the rate, and waits as long as it was told to', async () => {
    const limiter = new CreationLimiter({ perSecond: 50, concurrent: 1 });
    const first = Date.now();
    for (let turn = 0; turn < 6; turn++) await limiter.turn(signal);
    assert.ok(Date.now() - first >= 99, 'six turns of 20 ms, the first at once');
    const refused = Date.now();
    limiter.tooFast(150);
    limiter.tooFast(150);
    for (let turn = 0; turn < 4; turn++) await limiter.turn(signal);
    assert.ok(Date.now() - refused >= 269, 'four turns of 40 ms, half the rate for two refusals at once, the first after 150 ms');
  });

  it('after "too many" has room for those that live, until one of them ends', async () => {
    const limiter = new CreationLimiter({ perSecond: 1000, concurrent: 10 });
    const living = [await limiter.enter(signal), await limiter.enter(signal)];
    for (const place of living) place.accepted();
    const refused = await limiter.enter(signal);
    limiter.tooMany(undefined);
    refused.release();
    const again = limiter.enter(signal);
    assert.equal(await soon(again), false);
    living[0]!.release();
    assert.equal(await soon(again), true);
  });
});
