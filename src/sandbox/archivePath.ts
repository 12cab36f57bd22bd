/** What names and link targets in an archive mean, worked out without touching the disk. */

/** An entry's name as a clean relative path (`''` for the root itself), or undefined if it is absolute, holds `..` or a NUL. */
export function nameInside(name: string): string | undefined {
  if (name.startsWith('/') || name.includes('\0')) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}

/** Whether a clean relative path names something below the root. */
export const insideRoot = (path: string): boolean => path !== '' && path !== '.';

/** As many links as the kernel follows before it gives up (`path_resolution(7)`). */
const MAX_LINKS = 40;

/**
 * Whether following the link `name` never leaves the root, where `links` holds every link of the archive by name. Targets are followed
 * as the kernel does, link by link: `a/b/l -> ../..` makes `a/b/l/..` lie outside although its text does not say so.
 */
export function linkStaysInside(name: string, links: ReadonlyMap<string, string>): boolean {
  const at = name.split('/').slice(0, -1);
  const rest = [name.split('/').at(-1)!];
  for (let followed = 0; rest.length > 0; ) {
    const part = rest.shift()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    const target = links.get([...at, part].join('/'));
    if (target === undefined) {
      at.push(part);
      continue;
    }
    if (target.startsWith('/') || target.includes('\0') || ++followed > MAX_LINKS) return false;
    rest.unshift(...target.split('/'));
  }
  return true;
}
