/** One text of a step in full, for an editor: what the view folds, and what is too long to be carried along. */
import type { Place } from '../protocol/traceView.js';
import type { BlobRef, Part, TraceReader } from '../trace/model.js';

/** Editors refuse more than 50 MB. */
const MOST_CHARACTERS = 20 * 2 ** 20;

export interface PlaceText {
  readonly text: string;
  /** A language of VS Code. */
  readonly language: string;
  /** Characters left out at the end. */
  readonly cut: number;
}

/** Rejects where the step has no such place. */
export async function placeText(reader: TraceReader, step: number, place: Place, signal?: AbortSignal): Promise<PlaceText> {
  let value: unknown = await reader.step(step, signal);
  for (const key of place) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw new Error(`step ${step} has no ${place.join('.')}`);
    value = (value as Record<string | number, unknown>)[key];
  }
  const { text, language } = await textOf(reader, value);
  return { text: text.slice(0, MOST_CHARACTERS), language, cut: Math.max(0, text.length - MOST_CHARACTERS) };
}

async function textOf(reader: TraceReader, value: unknown): Promise<{ text: string; language: string }> {
  if (typeof value === 'string') return { text: value, language: 'plaintext' };
  if (isPart(value)) {
    switch (value.type) {
      case 'terminal':
        return { text: value.text, language: 'plaintext' };
      case 'text':
        return { text: value.text, language: 'markdown' };
      case 'code':
        return { text: value.text, language: value.language };
      case 'diff':
        return { text: value.text, language: 'diff' };
      case 'json':
        return { text: pretty(value.value), language: 'json' };
      case 'long':
        return { text: await blobText(reader, value.content), language: languageOf(value.content.mediaType) };
      case 'image':
        throw new Error('an image is not a text');
    }
  }
  return { text: pretty(value), language: 'json' };
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && 'type' in value && ['terminal', 'text', 'code', 'json', 'diff', 'image', 'long'].includes(value.type as string);

const pretty = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const languageOf = (mediaType: string): string => (mediaType.includes('json') ? 'json' : mediaType.includes('markdown') ? 'markdown' : 'plaintext');

const blobText = async (reader: TraceReader, { blob }: BlobRef): Promise<string> => new TextDecoder().decode(await reader.blob(blob));
