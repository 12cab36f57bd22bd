/** Text to the YAML package's document, with a limit on nesting that the package does not have. */
import { Composer, Lexer, Parser, type Document } from 'yaml';
import type { CST } from 'yaml';
import type { TextFinding } from './document.js';
import { yamlMessage } from './yamlMessages.js';

/** Far beyond any template. The package composes nodes recursively, and an exhausted stack can end the whole process. */
const MAX_NESTING = 100;
/** A page has some hundreds. The package takes about 10 microseconds for each, and an editor waits for it. */
const MAX_LEXEMES = 100_000;
const MAX_FINDINGS = 20;

export function composeYaml(text: string): { document?: Document.Parsed; findings: TextFinding[] } {
  const tokens = tokenize(text);
  if ('start' in tokens) return { findings: [tokens] };
  // The package's check of unique keys takes quadratic time; `document.ts` has its own.
  const [document, second] = new Composer({ uniqueKeys: false }).compose(tokens, true, text.length);
  const findings = [...document!.errors, ...document!.warnings].slice(0, MAX_FINDINGS).map((error): TextFinding => ({ start: error.pos[0], end: error.pos[1], message: yamlMessage(error) }));
  if (second) findings.push({ start: second.range[0], end: second.range[1], message: 'expected the end of the file, found a second document: a template is one document' });
  return { document: document!.errors.length === 0 && !second ? document : undefined, findings };
}

function tokenize(text: string): CST.Token[] | TextFinding {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const refuse = (message: string): TextFinding => ({ start: parser.offset, end: parser.offset, message });
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_NESTING) return refuse(`expected a template, found YAML that is nested more than ${MAX_NESTING} levels deep`);
    if (++lexemes > MAX_LEXEMES) return refuse(`expected a template, found more than ${MAX_LEXEMES} words and signs (data can be copied in with \`files\`)`);
  }
  tokens.push(...parser.end());
  return tokens;
}
