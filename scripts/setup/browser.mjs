// A Chromium to drive VS Code and the webviews with.
import { findProgram } from '../lib/find.mjs';
import { canInstall, install } from './apt.mjs';

const NAMES = {
  linux: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'],
  darwin: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe', 'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe'],
};

/** Path of an installed Chromium, Chrome or Edge. */
export const findBrowser = () => findProgram(...(NAMES[process.platform] ?? []));

/** The same, installed where that may be done without asking. */
export async function ensureBrowser() {
  const found = await findBrowser();
  if (found || !(await canInstall())) return found;
  await install('chromium', 'fonts-dejavu-core');
  return findBrowser();
}
