import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { traceEvent, traceJsonSchema } from '../../../src/trace/schema.js';

describe('schemas/trace.schema.json', () => {
  it('is what `npm run schema` writes', async () => {
    assert.deepEqual(JSON.parse(await readFile('schemas/trace.schema.json', 'utf8')), JSON.parse(JSON.stringify(traceJsonSchema())));
  });

  it('has a page that names every event and every key of it', async () => {
    const page = await readFile('docs/trace.md', 'utf8');
    for (const option of traceEvent.options) {
      const shape = option.shape as Record<string, unknown>;
      const type = (option.shape.type as { value: string }).value;
      assert.match(page, new RegExp(`^### \`${type}\``, 'm'));
      const section = page.split(`### \`${type}\``)[1]!.split('\n### ')[0]!;
      for (const key of Object.keys(shape)) if (key !== 'type' && key !== 'at') assert.ok(section.includes(`\`${key}\``), `${type}.${key} is described`);
    }
  });
});
