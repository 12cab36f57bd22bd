/** What a template names of the host, so that whoever can look says whether it is there. */
import path from 'node:path';
import { isRootFolder, leavesFolder } from './paths.js';
import { formatPath, type DocumentPath } from './text.js';

export interface HostReference {
  /** Where in the document, such as `files[0].from`. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'any';
  readonly written: string;
  /** Absolute. */
  readonly target: string;
  /** Whether it has to stay inside the template's folder once links are followed. */
  readonly inside: boolean;
}

/** From the value as written: also where something else in the file is wrong. Paths that are refused as they stand are left out. */
export function hostReferences(value: unknown, directory: string): HostReference[] {
  const found: HostReference[] = [];
  const get = (from: unknown, key: string | number): unknown => (from !== null && typeof from === 'object' && Object.hasOwn(from, key) ? (from as Record<string | number, unknown>)[key] : undefined);
  const add = (holder: unknown, at: DocumentPath, key: string, kind: HostReference['kind']) => {
    const written = get(holder, key);
    if (typeof written === 'string' && written && !leavesFolder(written)) found.push({ path: formatPath([...at, key]), kind, written, target: path.resolve(directory, written), inside: true });
  };
  const addImage = (holder: unknown, at: DocumentPath) => {
    const written = get(holder, 'image');
    if (typeof written === 'string' && isRootFolder(written)) found.push({ path: formatPath([...at, 'image']), kind: 'folder', written, target: path.resolve(directory, written), inside: false });
  };
  addImage(value, []);
  add(value, [], 'dockerfile', 'file');
  const files = get(value, 'files');
  if (Array.isArray(files)) files.forEach((file, index) => add(file, ['files', index], 'from', 'any'));
  const reward = get(value, 'reward');
  const components: [unknown, DocumentPath][] = Array.isArray(reward) ? reward.map((one: unknown, index) => [one, ['reward', index]]) : [[reward, ['reward']]];
  for (const [component, at] of components) {
    addImage(component, at);
    add(component, at, 'dockerfile', 'file');
    add(component, at, 'expected', 'file');
  }
  return found;
}
