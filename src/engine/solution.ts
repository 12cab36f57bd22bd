/** The commands of a trace as a template's reference solution. */
import { stringify } from 'yaml';
import type { Content } from '../trace/events.js';
import { readStored } from '../trace/native/blobs.js';
import { readEvents } from '../trace/native/events.js';
import { isBlob } from '../trace/writer.js';

/** `solution:` with a script, each command in a shell of its own, as it was run. Rejects with one sentence if a step was no command. */
export async function solutionOf(trace: string): Promise<string> {
  const lines: string[] = [];
  const add = async (content: Content, language: 'sh' | 'python') => {
    const script = isBlob(content) ? Buffer.from(await readStored(trace, content.blob)).toString() : (content as string);
    lines.push(language === 'python' ? `python3 -c ${quote(script)}` : `sh -c ${quote(script)}`);
  };
  for await (const event of readEvents(trace)) {
    if (event.type !== 'step' || event.action.kind === 'none') continue;
    const { action, step } = event;
    const refuse = (what: string): never => {
      throw new Error(`step ${step} of ${trace} is ${what}, which a script cannot do again: only commands can become a solution`);
    };
    if (action.kind === 'command') await add(action.command, action.language);
    else if (action.kind === 'value') refuse('an action of an environment');
    else
      for (const { name, arguments: input } of action.calls) {
        const { command, code } = (isBlob(input) ? JSON.parse(Buffer.from(await readStored(trace, input.blob)).toString()) : input) as { command?: string; code?: string };
        if (name === 'bash' && command !== undefined) await add(command, 'sh');
        else if (name === 'python' && code !== undefined) await add(code, 'python');
        else if (name !== 'submit' && name !== 'read') refuse(`a call of ${name}`);
      }
  }
  if (lines.length === 0) throw new Error(`${trace} has no commands`);
  return stringify({ solution: { run: `${lines.join('\n')}\n` } }, { lineWidth: 0 });
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
