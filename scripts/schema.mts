// Writes schemas/rlenv.schema.json from the template's schema.
import { writeFile } from 'node:fs/promises';
import { templateJsonSchema } from '../src/template/jsonSchema.ts';

await writeFile(new URL('../schemas/rlenv.schema.json', import.meta.url), `${JSON.stringify(templateJsonSchema(), null, 2)}\n`);
