/** Paths of the host as a template writes them. Pure: what exists is `load.ts`'s business. */
import path from 'node:path';

/** Whether a path is absolute on any system, or leads out of the folder that it is relative to. */
export function leavesFolder(written: string): boolean {
  if (path.posix.isAbsolute(written) || path.win32.isAbsolute(written) || /^[A-Za-z]:|^~(\/|$)/.test(written)) return true;
  const normal = path.posix.normalize(written);
  return normal === '..' || normal.startsWith('../');
}

/** Whether a path means the folder that it is relative to. A template that copied itself in would be stale with every edit of its reward. */
export const isOwnFolder = (written: string): boolean => /^\.\/?$/.test(path.posix.normalize(written));

/** Whether `image` names a root folder and not a container image. */
export const isRootFolder = (image: string): boolean => /^\.?\//.test(image);
