/** Texts for the clipboard: a step as Markdown, a model call as a command and as a program. What they hold is hostile, and inert wherever it is pasted. */
import type { ModelCall, Part, StepDetail } from '../../src/protocol/traceView.js';
import { parseAnsi } from '../ansi.js';

const USUAL_URL = 'https://api.openai.com/v1/chat/completions';

/**
 * JSON in which nothing but ASCII quotes, digits, letters of any script and plain punctuation stands as it is: no quote that could end a string of
 * a shell or of Python, no `!` (history of an interactive shell), no control, no mark that reorders text. All of them are legal as `\uXXXX`.
 */
function inertJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? 'null';
  return text.replace(/(?!\n)[\p{C}\u2028\u2029'!]/gu, (character) => Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''));
}

/** An http(s) address of ASCII without quotes, or the usual one. Names and passwords in it are left out. */
export function callUrl({ url }: ModelCall): string {
  try {
    const parsed = new URL(url ?? USUAL_URL);
    if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return USUAL_URL;
    parsed.username = '';
    parsed.password = '';
    return parsed.href.replace(/['!`$\\"]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  } catch {
    return USUAL_URL;
  }
}

/** For a POSIX shell. The body is on standard input, so that its length has no bound; the quoted delimiter keeps the shell from reading it. */
export function asCurl(call: ModelCall): string {
  return `curl '${callUrl(call)}' \\
  -H 'Content-Type: application/json' \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  --data-binary @- <<'END_OF_REQUEST'
${inertJson(call.request)}
END_OF_REQUEST
`;
}

/** For Python 3 and its standard library. */
export function asPython(call: ModelCall): string {
  return `import json
import os
import urllib.request

body = json.loads(r'''${inertJson(call.request)}''')
request = urllib.request.Request(
    '${callUrl(call)}',
    data=json.dumps(body).encode(),
    headers={'Content-Type': 'application/json', 'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']},
)
with urllib.request.urlopen(request, timeout=600) as response:
    print(json.dumps(json.load(response), indent=2))
`;
}

/** All that the step says, as Markdown. */
export function stepMarkdown(step: StepDetail): string {
  const lines = [`## Step ${step.label}: ${step.title}`];
  const facts = [step.kind, step.ms !== undefined && `${Math.round(step.ms)} ms`, step.error, step.reward !== undefined && `reward ${step.reward ?? 'none'}`, step.terminated && 'terminated', step.truncated && 'truncated'];
  lines.push(facts.filter(Boolean).join(', '));
  const section = (title: string, content: readonly Part[] | undefined) => {
    if (content?.length) lines.push(`**${title}**`, ...content.map(partMarkdown));
  };
  section(step.source, step.message);
  section('reasoning', step.reasoning);
  for (const call of step.calls ?? []) {
    lines.push(`**${call.name}**`, fence(typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments, undefined, 2), typeof call.arguments === 'string' ? '' : 'json'));
    section('result', call.result);
  }
  section('action', step.action);
  section('observation', step.observation);
  if (step.info !== undefined) lines.push('**info**', fence(JSON.stringify(step.info, undefined, 2), 'json'));
  for (const { path, change, diff } of step.files ?? []) lines.push(`**${change}** \`${path}\``, ...(diff === undefined ? [] : [fence(diff, 'diff')]));
  return `${lines.filter(Boolean).join('\n\n')}\n`;
}

function partMarkdown(part: Part): string {
  switch (part.type) {
    case 'text': return part.text;
    case 'terminal': return fence(parseAnsi(part.text).map(({ text }) => text).join(''));
    case 'code': return fence(part.text, part.language);
    case 'json': return fence(JSON.stringify(part.value, undefined, 2) ?? '', 'json');
    case 'diff': return fence(part.text, 'diff');
    case 'image': return `(image, ${part.image.mediaType})`;
    case 'long': return fence(`${part.content.head ?? ''}\n...`);
  }
}

/** A fence longer than any in the text. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text.replace(/\n$/, '')}\n${marks}`;
}
