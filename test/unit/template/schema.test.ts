import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { templateJsonSchema, type JsonSchema } from '../../../src/template/jsonSchema.js';

describe('schemas/rlenv.schema.json', () => {
  it('is what `npm run schema` writes', () => {
    assert.equal(readFileSync('schemas/rlenv.schema.json', 'utf8'), `${JSON.stringify(templateJsonSchema(), null, 2)}\n`);
  });

  it('describes sizes and durations as they are written', () => {
    const { properties } = templateJsonSchema();
    const timeout = properties!.episode!.properties!.timeout!;
    assert.equal(timeout.default, '60s');
    assert.match('1.5h', new RegExp(timeout.pattern!));
    assert.doesNotMatch('90', new RegExp(timeout.pattern!));
    assert.match('512Mi', new RegExp(properties!.resources!.properties!.memory!.pattern!));
  });

  it('has a description for every key, and patterns that JSON Schema readers of any kind understand', () => {
    const visit = (schema: JsonSchema, where: string): void => {
      if (schema.pattern) assert.doesNotMatch(schema.pattern, /\\p|\(\?<|\(\?i/, where);
      for (const [key, value] of Object.entries(schema.properties ?? {})) {
        assert.ok(value.description, `${where}.${key}`);
        visit(value, `${where}.${key}`);
      }
      for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...[schema.items ?? []].flat()]) visit(branch, where);
    };
    visit(templateJsonSchema(), '');
  });
});
