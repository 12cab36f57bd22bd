import assert from 'node:assert/strict';
import { editDistance, nearest } from '../../../src/template/suggest.js';
import { safe } from '../../../src/template/text.js';
import { parseDuration, parseSize } from '../../../src/template/units.js';

describe('units', () => {
  it('reads sizes with a unit', () => {
    assert.equal(parseSize('2Gi'), 2 ** 31);
    assert.equal(parseSize('1.5k'), 1500);
    for (const wrong of ['', '2', 'Gi', '2GB', '2 Gi', '-2Gi', '0Gi', '1e3Mi', '2gi', '9999999Ti', '2constructor', '.5Gi', '２Gi']) assert.equal(parseSize(wrong), undefined, wrong);
  });
  it('reads durations with a unit', () => {
    assert.equal(parseDuration('90s'), 90_000);
    assert.equal(parseDuration('1.5h'), 5_400_000);
    for (const wrong of ['', '90', 's', '90 s', '-1s', '0s', '0.1ms', '1d', '1m30s', '90S']) assert.equal(parseDuration(wrong), undefined, wrong);
  });
});

describe('suggestions', () => {
  it('counts a swap of neighbours as one edit', () => {
    assert.equal(editDistance('rewrad', 'reward'), 1);
    assert.equal(editDistance('kitten', 'sitting'), 3);
    assert.equal(editDistance('', 'abc'), 3);
    assert.equal(editDistance('same', 'same'), 0);
  });
  it('takes the nearest, and nothing that is far', () => {
    assert.equal(nearest('jnuit', ['stdout', 'junit', 'ctrf']), 'junit');
    assert.equal(nearest('Keep-Warm', ['keep_warm']), 'keep_warm');
    assert.equal(nearest('zebra', ['name', 'episode']), undefined);
    assert.equal(nearest('x'.repeat(1000), ['x']), undefined);
  });
});

describe('quoting', () => {
  it('leaves nothing that a terminal or an editor would act on', () => {
    assert.equal(safe('a\u001b[31mb\n\t\u202e\ud800'), 'a\\u001b[31mb\\n\\t\\u202e\\ud800');
  });
  it('cuts between characters, and says so', () => {
    const text = safe('🙂'.repeat(200));
    assert.ok(text.endsWith('🙂...'));
    assert.equal([...text].length, 63);
  });
});
