// The suites of `npm test`, in the order in which they run.
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';

const minutes = (count) => count * 60_000;

/** Test files below a folder whose names `matches` accepts, relative to the root. */
async function testFiles(folder, matches = () => true) {
  const names = await readdir(join('test', folder), { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith('.test.ts') && matches(name))
    .map((name) => ['test', folder, ...name.split(sep)].join('/'))
    .sort();
}

/** Of `e2e` they need other things than the rest. */
const ELSEWHERE = new Set(['memory.test.ts', 'vsix.test.ts']);

const integration = (prefix) => () => testFiles('integration', (name) => name.startsWith(prefix));

/**
 * @typedef {object} Suite
 * @property {string} name as on the command line
 * @property {number} timeoutMs
 * @property {readonly string[]} needs what must be installed for it, see machine.mjs
 * @property {readonly string[]} [command] a check that passes or fails as a whole: script of an npm package, then arguments
 * @property {() => Promise<string[]>} [files] mocha's files
 * @property {string} [runner] what runs the files in place of mocha
 * @property {'ordinary'} [user] not as root
 * @property {number} [retries] how often a test that fails is tried again: only where a browser, or an engine of containers, that nobody here wrote is
 *   driven. What then passes is counted and printed as flaky.
 */

/** @type {readonly Suite[]} */
export const SUITES = [
  { name: 'typecheck', needs: [], timeoutMs: minutes(5), command: ['typescript/bin/tsc', '--noEmit'] },
  { name: 'lint', needs: [], timeoutMs: minutes(8), command: ['eslint/bin/eslint.js', '.'] },
  { name: 'unit', needs: [], timeoutMs: minutes(8), files: () => testFiles('unit') },
  { name: 'bubblewrap', needs: ['root', 'bubblewrap'], timeoutMs: minutes(12), files: integration('bubblewrap') },
  { name: 'bubblewrap-user', needs: ['bubblewrap', 'ordinaryUser'], timeoutMs: minutes(12), files: integration('bubblewrap'), user: 'ordinary' },
  { name: 'docker', needs: ['docker'], timeoutMs: minutes(15), retries: 1, files: integration('docker') },
  { name: 'podman', needs: ['podman'], timeoutMs: minutes(15), retries: 1, files: integration('podman') },
  { name: 'e2b', needs: ['root', 'bubblewrap'], timeoutMs: minutes(8), files: () => testFiles('e2b') },
  { name: 'beam', needs: ['root', 'bubblewrap'], timeoutMs: minutes(8), files: () => testFiles('beam') },
  {
    name: 'integration',
    needs: ['sandboxes'],
    timeoutMs: minutes(20),
    files: () => testFiles('integration', (name) => !/^(bubblewrap|docker|podman)/.test(name)),
  },
  { name: 'cli', needs: ['sandboxes'], timeoutMs: minutes(15), files: () => testFiles('cli') },
  { name: 'webview', needs: ['browser'], timeoutMs: minutes(10), retries: 1, files: () => testFiles('webview') },
  { name: 'extension', needs: ['sandboxes', 'vscode', 'browser'], timeoutMs: minutes(12), retries: 1, files: () => testFiles('extension'), runner: 'test/support/extensionSuite.ts' },
  { name: 'e2e', needs: ['sandboxes', 'vscode', 'browser'], timeoutMs: minutes(20), retries: 1, files: () => testFiles('e2e', (name) => !ELSEWHERE.has(name)) },
  { name: 'e2e-podman', needs: ['podman', 'vscode', 'browser'], timeoutMs: minutes(5), retries: 1, files: () => testFiles('e2e', (name) => name === 'memory.test.ts') },
  { name: 'vsix', needs: ['sandboxes', 'vscode', 'browser'], timeoutMs: minutes(5), retries: 1, files: () => testFiles('e2e', (name) => name === 'vsix.test.ts') },
];
