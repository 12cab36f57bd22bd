/** A solution put into the text of a template: in place of the one that is there, or at its end. All else stays as it is written. */
import { isMap, isScalar } from 'yaml';
import { composeYaml } from './compose.js';

export interface TextChange {
  /** Offsets of what is replaced. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `solution` is YAML with the one key `solution`, as `solutionOf` writes it. Throws one sentence if the text is no template that could take it. */
export function withSolution(text: string, solution: string): TextChange {
  const { document, findings } = composeYaml(text);
  const { contents } = document ?? {};
  if (!isMap(contents)) throw new Error(findings[0]?.message ?? 'the template is not a map of keys');
  if (contents.flow) throw new Error('the template is written in one line, as `{...}`: a solution has to be put in by hand');
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === 'solution');
  if (!pair) return { start: text.length, end: text.length, text: `${text === '' || text.endsWith('\n') ? '' : '\n'}${solution}` };
  const key = pair.key as unknown as { readonly range: readonly [number, number, number] };
  const value = pair.value as unknown as { readonly range: readonly [number, number, number] } | null;
  const last = value?.range[1] ?? key.range[1];
  // The rest of its last line is a remark about what goes.
  const newline = text[last - 1] === '\n' ? last - 1 : text.indexOf('\n', last);
  return { start: key.range[0], end: newline < 0 ? text.length : newline + 1, text: solution };
}
