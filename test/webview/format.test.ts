import assert from 'node:assert/strict';
import * as format from '../../webview/format.js';
import { causeTerm, hasTerms, toggleTerms } from '../../webview/runView/filterTerms.js';
import { contrast, readable } from '../../webview/colour.js';

describe('numbers', () => {
  it('never shows a missing reward as a number', () => {
    assert.equal(format.reward(null), '\u2014');
    assert.equal(format.reward(NaN), '\u2014');
    assert.equal(format.reward(0), '0.0000');
    assert.equal(format.estimate(null, null), '\u2014');
    assert.equal(format.duration(null), '\u2014');
  });

  it('shows as many digits as matter', () => {
    assert.equal(format.reward(0.12345), '0.1235');
    assert.equal(format.reward(0.00002), '2.00e-5');
    assert.equal(format.reward(123.456), '123.46');
    assert.equal(format.reward(3e9), '3.00e+9');
    assert.equal(format.reward(1, 0), '1');
    assert.equal(format.reward(0.5, 0), '0.5');
    assert.equal(format.estimate(0.4972, 0.0131), '0.497 \u00b1 0.013');
    assert.equal(format.estimate(512.3, 22.2), '512 \u00b1 22');
    assert.equal(format.estimate(1, 0), '1.0000');
  });

  it('takes decimals from the rewards that there are', () => {
    assert.equal(format.rewardDecimals({ min: 0, median: 1, max: 1 }), 0);
    assert.equal(format.rewardDecimals({ min: 0, median: 0.5, max: 1 }), 4);
    assert.equal(format.rewardDecimals({ min: null, median: null, max: null }), 0);
  });

  it('says durations and sizes in one unit or two', () => {
    assert.deepEqual([0, 82, 999, 1500, 30_000, 59_990, 65_000, 3_725_000].map(format.duration), ['0 ms', '82 ms', '999 ms', '1.5 s', '30.0 s', '1 min 0 s', '1 min 5 s', '1 h 2 min']);
    assert.deepEqual([0, 1023, 1024, 10_240, 1_048_570, 5_000_000].map(format.bytes), ['0 B', '1,023 B', '1.0 KB', '10 KB', '1.0 MB', '4.8 MB']);
  });
});

describe('terms of a filter', () => {
  it('are put in, put out, and replace others about the same', () => {
    assert.equal(toggleTerms('', ['status:error']), 'status:error');
    assert.equal(toggleTerms('refused status:completed', ['status:error']), 'refused status:error');
    assert.equal(toggleTerms('status:error refused', ['status:error']), 'refused');
    assert.equal(toggleTerms('reward<0.5 seed:1', ['reward>=0.1', 'reward<0.2']), 'seed:1 reward>=0.1 reward<0.2');
    assert.equal(toggleTerms('-status:error "no space left"', ['status:truncated']), '"no space left" status:truncated');
  });

  it('are found where they are', () => {
    assert.ok(hasTerms('a status:error', ['status:error']));
    assert.ok(!hasTerms('status:errors', ['status:error']));
  });

  it('name a cause exactly', () => {
    assert.equal(causeTerm('ExecTimeout'), 'cause=ExecTimeout');
    assert.equal(causeTerm('no space "here"'), 'cause="no space here"');
  });
});

describe('colours of output', () => {
  it('are moved until they can be read', () => {
    const background = [31, 31, 31] as const;
    assert.ok(contrast([36, 114, 200], background) < 4.5);
    assert.ok(contrast(readable([36, 114, 200], background, 4.5), background) >= 4.5);
    assert.deepEqual(readable([255, 255, 255], background, 4.5), [255, 255, 255]);
    assert.ok(contrast(readable([128, 128, 128], [128, 128, 128], 4.5), [128, 128, 128]) >= 4.5);
  });
});
