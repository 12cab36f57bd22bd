/** What sandboxes cost: prices, and the running sum with its cap. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Bill } from '../../../src/engine/billing.js';
import { Meter } from '../../../src/rollout/meter.js';
import { costPerSecond, PRICES, type Prices } from '../../../src/sandbox/prices.js';
import type { Sandbox } from '../../../src/sandbox/provider.js';
import type { RunRecord } from '../../../src/store/records.js';

const hour = (provider: string, resources: Parameters<typeof costPerSecond>[2], prices: Prices = PRICES): number | string => {
  const price = costPerSecond(prices, provider, resources);
  return 'dollars' in price ? Math.round(price.dollars * 3600 * 1e6) / 1e6 : price.unknown;
};
const between = (low: number, value: number, high: number) => assert.ok(value >= low - 1e-6 && value <= high + 1e-6, `${value}, not from ${low} to ${high}`);

describe('prices', () => {
  it('has a source for each line, and a day', () => {
    assert.match(PRICES.asOf, /^\d{4}-\d\d-\d\d$/);
    for (const { cpu, memory, gpus } of Object.values(PRICES.providers)) for (const { source } of [cpu, memory, ...gpus]) assert.ok(source.length > 10);
  });

  it('follows from resources: those of the smallest machine where none are asked for, whole processors at E2B', () => {
    // As in the vendor's own example: 2 x $0.0504 + 0.5 x $0.0162.
    assert.equal(hour('e2b', {}), 0.1089);
    assert.equal(hour('e2b', { cpu: 0.5, memory: 2 ** 20 }), 0.0585);
    assert.equal(hour('e2b', { cpu: 3.2, memory: 4 * 2 ** 30 }), 0.2664);
    assert.equal(hour('beam', { cpu: 1, memory: 2 ** 30 }), 0.21);
  });

  it('has GPUs by model as people write it, the dearest for no model, and no price for one that is not in the table', () => {
    const gpu = (model: string | undefined, count: number | 'all' = 1) => hour('beam', { cpu: 1, memory: 2 ** 30, gpu: { count, model } });
    assert.deepEqual([gpu('A100'), gpu('a100 80'), gpu('H100', 2), gpu(undefined)], [1.51, 1.51, 3.69, 1.95]);
    assert.match(String(gpu('T4')), /no price is known of a GPU T4/);
    assert.match(String(gpu('H100', 'all')), /all GPUs/);
    assert.match(String(hour('e2b', { gpu: { count: 1 } })), /no price/);
    assert.match(String(hour('nowhere', {})), /no prices are known/);
  });
});

describe('the meter of a run', () => {
  const meter = (options: Partial<ConstructorParameters<typeof Meter>[0]> = {}) => new Meter({ lifetimeMs: 1000, onCap: () => undefined, ...options });

  it('sums what lives, from its creation to its end, and takes back what was never there', async () => {
    const sum = meter();
    const start = performance.now();
    const [one, two, none] = [sum.begin(10, 1000), sum.begin(20), sum.begin(1000)];
    await delay(200);
    none('taken-back');
    const { spent, perSecond, seconds } = sum.state;
    assert.equal(perSecond, 30);
    const passed = (performance.now() - start) / 1000;
    between(10 + 30 * 0.19, spent, 10 + 30 * passed);
    between(1 + 2 * 0.19, seconds, 1 + 2 * passed);
    one();
    two();
    two();
    await sum.settled();
    const ended = sum.state;
    assert.equal(ended.perSecond, 0);
    await delay(50);
    assert.equal(sum.spent, ended.spent);
  });

  it('tells once when the cap is come to, not before, and counts on from where a run was interrupted', async () => {
    const reached = new EventTarget();
    let times = 0;
    const from = { spent: 1, seconds: 5, perSecond: 2, at: Date.now() - 60_000 };
    // What lived then is counted for as long as it can have lived.
    const sum = meter({ from, cap: 5, onCap: () => void ((times += 1), reached.dispatchEvent(new Event('cap'))) });
    assert.equal(sum.spent, 3);
    assert.equal(times, 0);
    const cap = once(reached, 'cap');
    const end = sum.begin(20);
    await cap;
    assert.ok(sum.spent >= 5);
    sum.begin(1)();
    end();
    assert.equal(times, 1);
  });

  it('tells at once where there is nothing left', async () => {
    await new Promise<void>((resolve) => meter({ from: { spent: 2, seconds: 1, perSecond: 0, at: 0 }, cap: 1, onCap: resolve }).begin(1));
  });
});

describe('the bill of a run', () => {
  it('counts a sandbox until its provider has said that it is gone, not only until its end is asked for', async () => {
    let confirm = (): void => undefined;
    const confirmed = new Promise<void>((resolve) => (confirm = resolve));
    const info = { provider: 'e2b', createdAt: Date.now(), labels: { expires: Date.now() + 60_000 } };
    const sandbox = { info, ended: Promise.resolve(), terminate: () => confirmed } as unknown as Sandbox;
    const bill = new Bill({ timeoutMs: 1000 } as RunRecord, { rate: () => 1 }, () => undefined);
    bill.watch(sandbox, {});
    await delay(20);
    assert.equal(bill.meter.state.perSecond, 1);
    confirm();
    await bill.meter.settled();
    assert.equal(bill.meter.state.perSecond, 0);
  });
});
