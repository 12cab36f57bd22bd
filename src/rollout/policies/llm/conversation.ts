/** The messages of an episode, numbered as in its trace: see `messageEvent` in `src/trace/schema.ts`. */
import type { ModelEvent } from '../../../trace/events.js';
import { ELIDED, toolText } from '../../../trace/toolText.js';
import type { TraceWriter } from '../../../trace/writer.js';
import type { Past } from '../../retrace/past.js';
import type { ChatMessage, ChatReply, ToolCall, ToolResult } from './chat.js';

export class Conversation {
  private readonly all: ChatMessage[] = [];
  /** Numbers of the results of tools that are sent as a marker. */
  private readonly elided = new Set<number>();

  constructor(private readonly trace: TraceWriter) {}

  /** Goes on with a conversation that the trace has recorded again. False if there was none. */
  takeUp(past: readonly Past[]): boolean {
    if (!past.some(({ kind }) => kind === 'said')) return false;
    for (const each of past) {
      if (each.kind === 'said') this.all.push({ role: each.role, content: each.content });
      else if (each.kind === 'call') this.result(each.id, each.result);
      else if (each.kind === 'reply') {
        const { content, tool_calls: toolCalls = [] } = each.message as { readonly content?: string | null; readonly tool_calls?: readonly ToolCall[] };
        this.reply({ content: content ?? null, toolCalls });
        for (const [from, to] of each.call.elided ?? []) for (let index = from; index < to; index++) this.elided.add(index);
      }
    }
    return true;
  }

  say(role: 'system' | 'user', content: string): void {
    this.all.push({ role, content });
    this.trace.write({ type: 'message', at: Date.now(), role, content: this.trace.content(content) });
  }

  /** What the model said. Arguments that are no JSON are not sent back: some servers refuse their own. */
  reply({ content, toolCalls }: ChatReply): void {
    const sound = toolCalls.map((call) => ({ ...call, function: { ...call.function, arguments: isObject(call.function.arguments) ? call.function.arguments : '{}' } }));
    this.all.push({ role: 'assistant', content, ...(sound.length ? { tool_calls: sound } : {}) });
  }

  result(call: string, result: ToolResult): void {
    this.all.push({ role: 'tool', tool_call_id: call, content: toolText(result) });
  }

  messages(): readonly ChatMessage[] {
    return this.all.map((message, index) => (this.elided.has(index) && message.role === 'tool' ? { ...message, content: ELIDED } : message));
  }

  /** Which messages a request sends: all of them, some as a marker. */
  sent(): Pick<ModelEvent, 'context' | 'elided'> {
    const elided: [number, number][] = [];
    for (const index of [...this.elided].sort((a, b) => a - b)) {
      const last = elided.at(-1);
      if (last?.[1] === index) last[1] += 1;
      else elided.push([index, index + 1]);
    }
    return { context: [[0, this.all.length]], ...(elided.length ? { elided } : {}) };
  }

  /**
   * Makes room: the older half of the results of tools that are still whole are sent as a one-line marker from now on. False if none is left
   * to give up.
   */
  makeRoom(): boolean {
    const whole = this.all.flatMap((message, index) => (message.role === 'tool' && !this.elided.has(index) && message.content.length > ELIDED.length ? [index] : []));
    const given = whole.slice(0, Math.ceil(whole.length / 2));
    if (given.length === 0) return false;
    for (const index of given) this.elided.add(index);
    this.trace.note('info', 'context', `the messages were too long for the model: from now on the results of ${given.length} earlier calls are sent as a marker`);
    return true;
  }
}

/** Something that was done, for who was not there. */
export function inWords(past: Past): string {
  if (past.kind === 'command') return `$ ${past.language === 'sh' ? past.command : `python3 -c ${JSON.stringify(past.command)}`}\n${toolText({ ...past.result, stdout: `${past.result.stdout}${past.result.stderr ?? ''}` })}`;
  return past.kind === 'call' ? `${past.name} ${JSON.stringify(past.arguments)}\n${toolText(past.result)}` : '';
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
