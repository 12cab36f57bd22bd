/** What may stand where in a template, for completion and hover. Pure; all of it comes from the schema. */
import { templateJsonSchema, type JsonSchema } from './jsonSchema.js';

export interface ValueHint {
  readonly value: string;
  readonly description?: string;
}

export interface KeyInfo {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  /** What may follow: how a completion goes on after the colon. Text comes before others where several may. */
  readonly kind: 'text' | 'number' | 'boolean' | 'list' | 'map';
  /** Values to choose from, where they are known. */
  readonly values: readonly ValueHint[];
  /** Default as it would be written, where there is one. */
  readonly default?: string;
}

/** Keys and list positions from the root: `['reward', 0, 'weight']`; a position may be a string of digits. */
export type SchemaPath = readonly (string | number)[];

/**
 * Keys of the map at a path, in the schema's order; none if there is no map. `type` is the value of the map's own
 * key `type` or `name`, where it has one: it chooses among kinds of rewards or of policies.
 */
export function keysAt(path: SchemaPath, type?: string): KeyInfo[] {
  const maps = narrowed(branchesAt(path), type);
  const names = [...new Set(maps.flatMap((map) => Object.keys(map.properties ?? {})))];
  return names.map((name) => {
    const variants = maps.flatMap((map) => map.properties?.[name] ?? []);
    const branches = variants.flatMap(expand);
    return {
      name,
      description: name === 'type' ? 'Kind of reward.' : variants.find((variant) => variant.description)?.description,
      required: maps.every((map) => map.required?.includes(name)),
      kind: kindOf(branches),
      values: valuesOf(branches),
      default: defaultOf(variants),
    };
  });
}

/** Values to choose from at a path. */
export const valuesAt = (path: SchemaPath): ValueHint[] => valuesOf(branchesAt(path));

/** What a key means, as Markdown; undefined for what the schema does not know. */
export function describe(path: SchemaPath, type?: string): string | undefined {
  const name = path.at(-1);
  const key = typeof name === 'string' ? keysAt(path.slice(0, -1), type).find((info) => info.name === name) : undefined;
  if (!key) return schemasAt(path).find((schema) => schema.description)?.description;
  const values = key.values.map(({ value, description }) => `- \`${value}\`${description ? `: ${description}` : ''}`);
  const paragraphs = [key.description, values.join('\n'), key.required ? 'Required.' : key.default && `Default: \`${key.default}\``];
  return paragraphs.filter(Boolean).join('\n\n') || undefined;
}

let root: JsonSchema | undefined;

function schemasAt(path: SchemaPath): JsonSchema[] {
  root ??= templateJsonSchema();
  return path.reduce<JsonSchema[]>((schemas, part) => schemas.flatMap(expand).flatMap((schema) => child(schema, String(part))), [root]);
}

const branchesAt = (path: SchemaPath): JsonSchema[] => schemasAt(path).flatMap(expand);

/** A union as its branches, to any depth. */
function expand(schema: JsonSchema): JsonSchema[] {
  const branches = schema.anyOf ?? schema.oneOf;
  return branches ? branches.flatMap(expand) : [schema];
}

function child(schema: JsonSchema, part: string): readonly JsonSchema[] {
  if (/^\d+$/.test(part) && schema.items) return [schema.items].flat().slice(Array.isArray(schema.items) ? Number(part) : 0).slice(0, 1);
  if (schema.properties && Object.hasOwn(schema.properties, part)) return [schema.properties[part]!];
  return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
}

function narrowed(branches: readonly JsonSchema[], type: string | undefined): JsonSchema[] {
  const maps = branches.filter((branch) => branch.properties);
  const chosen = maps.filter((map) => (map.properties?.type?.const ?? map.properties?.name?.const) === type);
  return type !== undefined && chosen.length > 0 ? chosen : maps;
}

function kindOf(branches: readonly JsonSchema[]): KeyInfo['kind'] {
  const types = branches.flatMap((branch) => branch.type ?? []);
  if (types.includes('string')) return 'text';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  return types.includes('array') ? 'list' : 'map';
}

function valuesOf(branches: readonly JsonSchema[]): ValueHint[] {
  const hints = branches.flatMap((branch): ValueHint[] => {
    if (branch.enum) return branch.enum.map((value) => ({ value: String(value) }));
    return branch.const === undefined ? [] : [{ value: JSON.stringify(branch.const).replaceAll('"', ''), description: branch.description }];
  });
  return hints.filter((hint, index) => hints.findIndex((other) => other.value === hint.value) === index);
}

function defaultOf(variants: readonly JsonSchema[]): string | undefined {
  const found = variants.find((variant) => variant.default !== undefined)?.default;
  if (found === undefined || (Array.isArray(found) && found.length === 0)) return undefined;
  return typeof found === 'string' ? found : JSON.stringify(found);
}
