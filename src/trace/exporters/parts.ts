/** Texts of a step for other formats: all of what is long, up to a limit. */
import type { Part, TraceReader } from '../model.js';

const MOST = 8 << 20;

/** The text of a part; an image has none. */
export async function partText(part: Part, reader: TraceReader): Promise<string> {
  switch (part.type) {
    case 'image':
      return '';
    case 'json':
      return JSON.stringify(part.value);
    case 'long': {
      const { blob, bytes, head } = part.content;
      if (bytes !== undefined && bytes > MOST) return `${head ?? ''}… [${bytes} bytes in all]`;
      return new TextDecoder().decode(await reader.blob(blob));
    }
    default:
      return 'dropped' in part && part.dropped ? `${part.text.slice(0, part.dropped.at)}\n[${part.dropped.bytes} bytes were not kept]\n${part.text.slice(part.dropped.at)}` : part.text;
  }
}

export async function partsText(parts: readonly Part[] | undefined, reader: TraceReader): Promise<string> {
  const texts = [];
  for (const part of parts ?? []) texts.push(await partText(part, reader));
  return texts.filter(Boolean).join('\n');
}
