/** The exact sentences for a folder of wrong templates. `UPDATE_GOLDEN=1` writes them anew, to be read in the diff. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseTemplate } from '../../../src/template/parse.js';
import { formatProblem } from '../../../src/template/template.js';

const FOLDER = path.resolve('test/fixtures/templates/bad');

describe('problems of a template', () => {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.rlenv.yaml'))) {
    it(name.replace('.rlenv.yaml', ''), () => {
      const parsed = parseTemplate(readFileSync(path.join(FOLDER, name), 'utf8'), path.join(FOLDER, name));
      const text = parsed.problems.map((problem) => `${formatProblem({ ...problem, file: name })}  [to ${problem.endLine}:${problem.endColumn}${problem.path && `, ${problem.path}`}]\n`).join('');
      const golden = path.join(FOLDER, name.replace('.rlenv.yaml', '.txt'));
      if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
      assert.equal(text, readFileSync(golden, 'utf8'));
      assert.equal(parsed.template, undefined);
      assert.ok(parsed.problems.length > 0);
    });
  }
});
