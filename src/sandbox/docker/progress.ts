/** The stream of JSON lines with which the engine tells how a pull or a build goes. */
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';

/** One line, as far as it is used here. */
export interface ProgressEvent {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: unknown;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
  readonly aux?: { readonly ID?: string };
}

/** Yields event by event. Lines end with `\n` alone: text inside may hold any other kind of line break. */
export async function* progressEvents(stream: Readable): AsyncGenerator<ProgressEvent> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as ProgressEvent;
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as ProgressEvent;
}

/** What an event says to a person; empty for the ticks of a progress bar. */
export function progressText({ stream, status, id, progressDetail }: ProgressEvent): string {
  if (stream !== undefined) return stream;
  if (status === undefined || isTick(progressDetail)) return '';
  return `${id === undefined ? '' : `${id}: `}${status}\n`;
}

const isTick = (detail: unknown): boolean => typeof detail === 'object' && detail !== null && 'current' in detail;

/** Keeps the last lines of what was printed. */
export class Tail {
  private text = '';

  constructor(private readonly characters = 8000) {}

  add(text: string): void {
    this.text = (this.text + text).slice(-this.characters);
  }

  /** Its last `count` lines. */
  lines(count: number): string {
    return this.text.trimEnd().split('\n').slice(-count).join('\n');
  }
}
