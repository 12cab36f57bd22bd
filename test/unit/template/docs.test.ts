import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { keysAt } from '../../../src/template/complete.js';
import { parseTemplate } from '../../../src/template/parse.js';

const TEXT = readFileSync('docs/template.md', 'utf8');

describe('docs/template.md', () => {
  it('mentions every key of a template', () => {
    const keys = [[], ['resources'], ['episode'], ['setup', 0], ['files', 0], ['network'], ['packages'], ['reward']].flatMap((path) => keysAt(path).map((key) => key.name));
    for (const key of keys) assert.match(TEXT, new RegExp(`\`[^\`\n]*\\b${key}\\b[^\`\n]*\``), key);
  });

  it('mentions every kind of reward', () => {
    for (const { value } of keysAt(['reward']).find((key) => key.name === 'type')!.values) assert.match(TEXT, new RegExp(`\\| [^|]*\`${value}\`[^|]* \\|`), value);
  });

  it('has only examples that are right', () => {
    const blocks = [...TEXT.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1]!);
    assert.ok(blocks.length >= 8);
    for (const block of blocks) {
      const whole = [/^name:/m.test(block) ? '' : 'name: a\n', /^episode:/m.test(block) ? '' : 'episode: {run: x}\n', block].join('');
      assert.deepEqual(parseTemplate(whole, '/envs/a.rlenv.yaml').problems.map(({ message }) => message), [], block);
    }
  });
});
