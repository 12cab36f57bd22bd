/** Code to a tree of tokens, and that to templates: no markup is ever made from text. Loaded with the first code that is shown. */
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { html } from 'lit';
import { createLowlight } from 'lowlight';

const lowlight = createLowlight({
  bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, makefile, markdown, python, ruby, rust, shell, sql, typescript, xml, yaml,
});

type Tree = ReturnType<typeof lowlight.highlight>;
type Content = Tree['children'][number];

/** Classes of the parser, by the colours that there are. */
const CLASSES: Readonly<Record<string, string>> = {
  'keyword': 'keyword', 'literal': 'keyword', 'built_in': 'builtin', 'type': 'type', 'class': 'type', 'title': 'name', 'function': 'name', 'section': 'name', 'name': 'name', 'selector-tag': 'name',
  'string': 'string', 'regexp': 'string', 'char': 'string', 'symbol': 'string', 'attr': 'attr', 'attribute': 'attr', 'property': 'attr', 'number': 'number', 'comment': 'comment', 'quote': 'comment',
  'meta': 'meta', 'addition': 'added', 'deletion': 'removed', 'strong': 'strong', 'emphasis': 'emphasis',
};

export type Highlight = (text: string, language: string) => unknown;

/** Undefined for a language that is not known. */
export const highlight: Highlight = (text, language) => {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return undefined;
  try {
    return lowlight.highlight(name, text).children.map(draw);
  } catch {
    return undefined;
  }
};

function draw(node: Content): unknown {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const names = Array.isArray(node.properties.className) ? node.properties.className : [];
  const known = names.map((name) => CLASSES[String(name).replace(/^hljs-/, '')]).find((name) => name !== undefined);
  const children = node.children.map(draw);
  return known ? html`<span class="code-${known}">${children}</span>` : children;
}
