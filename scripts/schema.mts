// Writes schemas/rlenv.schema.json and schemas/trace.schema.json from their one source each.
import { writeFile } from 'node:fs/promises';
import { templateJsonSchema } from '../src/template/jsonSchema.ts';
import { traceJsonSchema } from '../src/trace/schema.ts';

for (const [name, schema] of Object.entries({ rlenv: templateJsonSchema(), trace: traceJsonSchema() }))
  await writeFile(new URL(`../schemas/${name}.schema.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
