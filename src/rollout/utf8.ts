/** Where bytes can be cut without cutting a character of UTF-8 in two. What is not UTF-8 is cut anywhere. */

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Bytes of a character by its first one; 1 for what cannot start a longer one. */
const characterLength = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1);

/** `bytes` without the beginning of a character whose end is missing. */
export function trimEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    return characterLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** `bytes` without the end of a character whose beginning is missing. */
export function trimStart(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start++;
  return bytes.subarray(start);
}

/** Decodes with U+FFFD for what is not UTF-8: the result never holds a lone surrogate. */
export const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
