// The embedded default for sandboxes.
import { findProgram } from '../lib/find.mjs';
import { canInstall, install } from './apt.mjs';

/** Whether bubblewrap is there, after it has been installed if that may be done without asking. */
export async function ensureBubblewrap() {
  if (process.platform !== 'linux') return false;
  if (await findProgram('bwrap')) return true;
  if (!(await canInstall())) return false;
  await install('bubblewrap');
  return true;
}
