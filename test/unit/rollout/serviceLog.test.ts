import { strict as assert } from 'node:assert';
import { ServiceLog } from '../../../src/rollout/serviceLog.js';

describe('log of a service', () => {
  it('is read on from where one was, in whole characters', () => {
    const log = new ServiceLog();
    const bytes = Buffer.from('one ü two\n');
    log.write(bytes.subarray(0, 5));
    const first = log.read(0);
    assert.deepEqual(first, { text: 'one ', next: 4, dropped: 0 });
    log.write(bytes.subarray(5));
    assert.deepEqual(log.read(first.next), { text: 'ü two\n', next: bytes.length, dropped: 0 });
    assert.deepEqual(log.read(bytes.length), { text: '', next: bytes.length, dropped: 0 });
    assert.deepEqual(log.read(1e9), { text: '', next: bytes.length, dropped: 0 });
    assert.equal(log.lastLine(), 'one ü two');
  });

  it('keeps the last part, and tells how much is lost', () => {
    const log = new ServiceLog();
    for (let line = 0; line < 100_000; line++) log.write(Buffer.from(`line ${line}\n`));
    const { text, next, dropped } = log.read(0);
    assert.equal(next, log.total);
    assert.equal(dropped, log.total - log.bytes().length);
    assert.ok(dropped > 0 && text.endsWith('line 99999\n'));
    assert.equal(log.lastLine(), 'line 99999');
    assert.equal(new ServiceLog().lastLine(), undefined);
  });
});
