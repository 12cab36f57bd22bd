/** A Chromium for tests: the machine's own, without a sandbox of its own where tests run as root. */
import { chromium, type Browser } from 'playwright-core';
import { findBrowser } from '../../scripts/setup/browser.mjs';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];

/** Why there is none, for a skip. */
export const NO_BROWSER = 'no Chromium, Chrome or Edge is installed';

/** Starts a browser, or resolves to undefined where none is installed. The caller closes it. */
export async function launchBrowser(): Promise<Browser | undefined> {
  const executablePath = await findBrowser();
  return executablePath ? chromium.launch({ executablePath, args: ARGUMENTS }) : undefined;
}
