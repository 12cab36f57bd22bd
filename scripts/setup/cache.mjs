// Where things that take minutes to make are kept between clones.
import { homedir } from 'node:os';
import { join } from 'node:path';

export const cacheFolder = (...names) => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rl-sandboxes', ...names);
