/** Where a cursor stands in a template that is being typed. `¦` marks it. */
import assert from 'node:assert/strict';
import { cursorAt, type Cursor } from '../../../src/extension/language/cursor.js';

function at(text: string): Cursor | undefined {
  const lines = text.replace(/^\n/, '').split('\n');
  const line = lines.findIndex((candidate) => candidate.includes('¦'));
  const column = lines[line]!.indexOf('¦');
  lines[line] = lines[line]!.replace('¦', '');
  return cursorAt(lines, line, column);
}

describe('cursor in a template', () => {
  it('is at the top', () => {
    assert.deepEqual(at('name: hello\n¦\nreward: stdout'), { path: [], inValue: false, siblings: ['name', 'reward'] });
  });

  it('is in a map, behind a half-typed key', () => {
    assert.deepEqual(at('name: x\nresources:\n  cpu: 1\n  mem¦'), { path: ['resources'], inValue: false, siblings: ['cpu'] });
  });

  it('is in a value', () => {
    assert.deepEqual(at('network:\n  setup: ¦'), { path: ['network'], key: 'setup', inValue: true, siblings: [] });
  });

  it('is on a key', () => {
    assert.equal(at('episode:\n  time¦out: 3s')?.key, 'timeout');
    assert.equal(at('episode:\n  time¦out: 3s')?.inValue, false);
  });

  it('counts entries of a list', () => {
    assert.deepEqual(at('setup:\n  - run: a\n  - run: b\n  - ¦')?.path, ['setup', 2]);
    assert.deepEqual(at('setup:\n- run: a\n- ¦')?.path, ['setup', 1]);
    assert.deepEqual(at('setup:\n  - run: a\n    ¦')?.path, ['setup', 0]);
  });

  it('knows the kind of a reward from the key beside it, above and below', () => {
    assert.equal(at('reward:\n  - type: stdout\n  - type: junit\n    ¦')?.type, 'junit');
    assert.deepEqual(at('reward:\n  - type: stdout\n  - type: junit\n    ¦')?.siblings, ['type']);
    assert.equal(at('reward:\n  - ¦\n    type: "diff"')?.type, 'diff');
    assert.equal(at('reward:\n  ¦\n  type: files\nname: x')?.type, 'files');
  });

  it('takes no keys of a neighbour', () => {
    assert.deepEqual(at('reward:\n  - type: stdout\n    weight: 1\n  - name: b\n    ¦\n  - type: junit')?.siblings, ['name']);
    assert.equal(at('reward:\n  - type: stdout\n    weight: 1\n  - name: b\n    ¦\n  - type: junit')?.type, undefined);
  });

  it('goes through lists in lists', () => {
    assert.deepEqual(at('reward:\n  - type: sandbox\n    setup:\n      - run: a\n      - ¦')?.path, ['reward', 0, 'setup', 1]);
  });

  it('passes over block scalars above, and says nothing inside one', () => {
    assert.deepEqual(at('setup:\n  - run: |\n      a: b\n      c\n  - ¦')?.path, ['setup', 1]);
    assert.equal(at('episode:\n  run: |\n    echo: ¦'), undefined);
    assert.equal(at('episode:\n  run: |\n    if true; then\n      x: ¦'), undefined);
    assert.deepEqual(at('episode:\n  run: |\n    a: b\n  ¦')?.path, ['episode']);
  });

  it('says nothing in comments and in flow style', () => {
    assert.equal(at('name: x # a¦'), undefined);
    assert.equal(at('network: { se¦'), undefined);
  });

  it('bears what is no YAML at all', () => {
    for (const text of ['¦', ':::\n  - -\n ¦', '- - -¦', '\t¦', 'a\n b\n  c\n   ¦', '"unclosed: ¦']) assert.doesNotThrow(() => at(text));
  });
});
