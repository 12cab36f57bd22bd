import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Results } from '../../../scripts/lib/results.mjs';

describe('the reader of test results', () => {
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'results-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('counts each line once, however many look at the same time', async () => {
    const file = join(folder, 'results.jsonl');
    await writeFile(file, '{"type":"pass","title":"one","ms":1}\n'.repeat(3));
    const results = new Results(file);
    await Promise.all([results.update(), results.update(), results.update()]);
    assert.equal(results.passed, 3);
    await results.update();
    assert.equal(results.passed, 3);
  });
});
