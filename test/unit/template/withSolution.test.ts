/** A solution put into a template's text: read back as it was, with everything else untouched. */
import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { withSolution } from '../../../src/template/withSolution.js';

const SOLUTION = "solution:\n  run: |\n    sh -c 'echo 1'\n    sh -c 'echo 2'\n";
const put = (text: string): string => {
  const { start, end, text: more } = withSolution(text, SOLUTION);
  return text.slice(0, start) + more + text.slice(end);
};

describe('a solution in a template', () => {
  it('comes at the end where there is none', () => {
    assert.equal(put('# mine\nname: x'), `# mine\nname: x\n${SOLUTION}`);
    assert.equal(put('name: x\n'), `name: x\n${SOLUTION}`);
  });

  it('takes the place of the one that is there, however it is written', () => {
    for (const old of ['solution: { run: "old" } # not this', 'solution:\n  # inside\n  python: |\n    old()\n\n    more()', 'solution:', 'solution:\n  run: >-\n    old\n    text']) {
      const text = `# head\nname: x # the name\n${old}\n\n# between\nreward: stdout\n`;
      const made = put(text);
      assert.deepEqual(parse(made), { name: 'x', solution: { run: "sh -c 'echo 1'\nsh -c 'echo 2'\n" }, reward: 'stdout' }, made);
      for (const kept of ['# head\nname: x # the name\n', '# between\nreward: stdout\n']) assert.ok(made.includes(kept), made);
    }
    assert.deepEqual(parse(put('solution: { run: old }')), parse(SOLUTION));
  });

  it('is refused where the text is no template that could take it', () => {
    for (const text of ['', '- a\n', '{ name: x }\n', 'name: [\n']) assert.throws(() => put(text), Error, text);
  });
});
