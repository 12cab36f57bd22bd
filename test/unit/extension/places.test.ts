/** Where readers were in traces, as the extension stores it. */
import assert from 'node:assert/strict';
import { Places } from '../../../src/extension/panels/places.js';

/** As VS Code gives one back in the next window: through JSON. */
function store(kept: unknown) {
  let text = JSON.stringify(kept ?? null);
  return { get: () => (JSON.parse(text) as unknown) ?? undefined, update: (_: string, value: unknown) => Promise.resolve(void (text = JSON.stringify(value))) };
}

describe('places of readers', () => {
  it('are found again by the file, the last ones of many, until it is closed', async () => {
    const places = new Places(store(undefined));
    for (let file = 0; file < 60; file++) await places.set(`/trace-${file}`, `state ${file}`);
    await places.set('/trace-59', 'later');
    assert.deepEqual(['/trace-0', '/trace-10', '/trace-59'].map((file) => places.get(file)), [undefined, 'state 10', 'later']);
    await places.forget('/trace-59');
    assert.equal(places.get('/trace-59'), undefined);
  });

  it('are none where something else is stored', () => {
    for (const kept of [7, 'x', {}, [7], [['/a']], [['/a', {}]]]) assert.equal(new Places(store(kept)).get('/a'), undefined);
  });
});
