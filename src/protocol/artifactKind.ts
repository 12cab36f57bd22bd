/** What an artifact is shown as. Its name came out of a sandbox: it chooses how bytes are drawn, and nothing else. */

export type ArtifactKind = 'image' | 'video' | 'table' | 'text';

/** Formats that hold a picture or a film and nothing else. An SVG is a document, and shown as its text. */
const MEDIA: Readonly<Record<string, string>> = {
  png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', bmp: 'image/bmp', avif: 'image/avif', mp4: 'video/mp4', webm: 'video/webm', ogv: 'video/ogg',
};
const TABLES = ['csv', 'tsv'];

/** By the ending of its name. Of what is no medium only the bytes say whether it is a text. */
export function artifactKind(path: string): { readonly kind: ArtifactKind; readonly mediaType: string } {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const mediaType = MEDIA[ending];
  if (mediaType !== undefined) return { kind: mediaType.startsWith('image/') ? 'image' : 'video', mediaType };
  return { kind: TABLES.includes(ending) ? 'table' : 'text', mediaType: TABLES.includes(ending) ? `text/${ending}` : 'text/plain' };
}

/** Bytes of a picture or film that are shown: one that is longer is opened in an editor. */
export const MOST_MEDIA_BYTES = 32 * 2 ** 20;
/** Bytes of a text or table that are shown, from its beginning. */
export const MOST_TEXT_BYTES = 256 * 1024;
