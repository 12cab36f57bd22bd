/** The template's shape as JSON Schema (draft 7, which is what editors read), from the one source of truth. */
import * as z from 'zod';
import { templateSchema } from './schema.js';

/** The part of JSON Schema that the generated one consists of. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
}

/** Describes what is written, before units are read. What one key says about another is beyond it: `rules.ts`. */
export function templateJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(templateSchema, { target: 'draft-7', io: 'input', reused: 'inline' });
  return { $schema, $id: 'rlenv.schema.json', title: 'RL Sandboxes environment template', ...schema } as JsonSchema;
}
