/** What a model was sent, put together again from the messages that a trace has written once each. */
import type { Bytes, Span } from '../bytes.js';
import type { CallResult, ModelEvent, TraceEvent } from '../events.js';
import { readJson } from '../json/prune.js';
import { isRecord } from '../text.js';
import { ELIDED, toolText } from '../toolText.js';

/** Where messages lie, by number: the line, and which result of its step (-1: what the line itself says). */
export class MessageIndex {
  private readonly lines: { readonly line: Span; readonly result: number }[] = [];

  /** Takes in the events of one step, in the order of the file. */
  add(events: readonly { readonly event: TraceEvent; readonly line: Span }[]): void {
    for (const { event, line } of events) {
      if (event.type === 'message' || (event.type === 'model' && event.reply !== undefined)) this.lines.push({ line, result: -1 });
      else if (event.type === 'step' && event.observation.kind === 'results') for (const result of event.observation.results.keys()) this.lines.push({ line, result });
    }
  }

  /** Chat messages of the call. A number that the trace has no message for is left out. */
  async messages(bytes: Bytes, { context, elided = [] }: ModelEvent, text: (content: unknown) => Promise<unknown>): Promise<unknown[]> {
    const messages: unknown[] = [];
    for (const [from, to] of context)
      for (let number = from; number < Math.min(to, this.lines.length); number += 1) {
        const { line, result } = this.lines[number]!;
        const event = (await readJson(bytes, line)).value as TraceEvent;
        if (event.type === 'message') messages.push({ role: event.role, content: await text(event.content) });
        else if (event.type === 'model') messages.push(await text(event.reply));
        else if (event.type === 'step' && event.observation.kind === 'results') messages.push(await toolMessage(event.observation.results[result], elided.some(([first, last]) => number >= first && number < last), text));
      }
    return messages;
  }
}

async function toolMessage(result: CallResult | undefined, elided: boolean, text: (content: unknown) => Promise<unknown>): Promise<unknown> {
  if (!result) return { role: 'tool', content: ELIDED };
  const stdout = await text(result.stdout);
  return { role: 'tool', tool_call_id: result.call, content: elided ? ELIDED : toolText({ ...result, stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout) }) };
}

const MOST = 1 << 20;

/** A content with its blob in place; of one that is large, how it begins. */
export const inlined =
  (read: (name: string) => Promise<Uint8Array>) =>
  async (content: unknown): Promise<unknown> => {
    if (!isRecord(content) || content.$blob !== true || typeof content.blob !== 'string') return content;
    const { bytes, mediaType, head } = content;
    if (typeof bytes !== 'number' || bytes > MOST || typeof mediaType !== 'string' || !/^(text\/|application\/json)/.test(mediaType)) return typeof head === 'string' ? `${head}…` : `[${String(mediaType)}]`;
    const text = new TextDecoder().decode(await read(content.blob));
    return mediaType === 'application/json' ? (JSON.parse(text) as unknown) : text;
  };
