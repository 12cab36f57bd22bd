/** What the YAML package says, as a person who writes a template would say it. */
import type { YAMLError } from 'yaml';
import { safe } from './text.js';

const LONGEST_MESSAGE = 200;

const KNOWN: readonly [RegExp, string][] = [
  [/^Tabs are not allowed as indentation/, 'expected spaces as indentation, found a tab'],
  [/^Implicit map keys need to be followed|^Implicit keys need to be on a single line/, 'expected a key with ":" and a value'],
  [/^Nested mappings are not allowed in compact mappings/, 'unexpected ":": a text that holds ": " has to be in quotes'],
  [/^All mapping items must start at the same column/, 'wrong indentation: expected the same column as the key before it'],
  [/^All sequence items must start at the same column/, 'wrong indentation: expected the same column as the "-" before it'],
  [/^Flow map in block collection must be/, 'expected "}": the "{" above is still open'],
  [/^Flow sequence in block collection must be/, 'expected "]": the "[" above is still open'],
  [/^Missing closing "quote/, "expected a closing '\"', found the end of the text"],
  [/^Missing closing 'quote/, 'expected a closing "\'", found the end of the text'],
];

export function yamlMessage(error: YAMLError): string {
  if (error.code === 'TAG_RESOLVE_FAILED') return `tags are not supported: ${safe(error.message, LONGEST_MESSAGE)}`;
  const known = KNOWN.find(([pattern]) => pattern.test(error.message));
  return known ? known[1] : `not valid YAML: ${safe(error.message.charAt(0).toLowerCase() + error.message.slice(1), LONGEST_MESSAGE)}`;
}
