/** An http(s) address in the one way of writing it that hides nothing: a host in Punycode, everything else percent-encoded. Undefined if it is none. */
export function webAddress(text: string): string | undefined {
  try {
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
    // A name before the host makes a foreign address look like a known one.
    url.username = '';
    url.password = '';
    return url.href;
  } catch {
    return undefined;
  }
}
