/**
 * Runs the test files named on the command line inside a real VS Code, over a copy of `examples/` as its workspace: a desktop one where
 * that can be had, else the server in a Chromium.
 */
import { build } from 'esbuild';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { desktopAvailable, runInDesktop } from './desktop.js';
import { RESULTS_VARIABLE } from './reporter.js';
import { RUNNER_FOLDER, stopRunner } from './runner.js';
import { launchVsCode } from './vscode.js';

/** How long the window may take to come up and begin with the first test. */
const START_MS = 120_000;
const POLL_MS = 200;

/** What is so before anyone uses the extension is looked at before anything uses it. */
const beforeUse = (file: string) => file.endsWith('/activation.test.ts');

/** One CommonJS file of all tests, with a `run()` for VS Code to call. */
async function bundle(files: readonly string[]): Promise<string> {
  const outfile = resolve('out/test/extension/index.js');
  const loads = files.toSorted((a, b) => Number(beforeUse(b)) - Number(beforeUse(a))).map((file) => `require(${JSON.stringify(`./${file}`)});`).join(' ');
  await build({
    stdin: { contents: `import { runMocha } from './test/support/extensionHost';\nexport const run = () => runMocha(() => { ${loads} });`, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
  return outfile;
}

/** Waits for the run's last event. Rejects if it has not begun in time; how long it may take then is up to the caller's deadline. */
async function finished(resultsFile: string): Promise<void> {
  for (const begin = Date.now() + START_MS; ; await delay(POLL_MS)) {
    const text = await readFile(resultsFile, 'utf8');
    if (text.includes('{"type":"end"}')) return;
    if (!text && Date.now() > begin) throw new Error(`VS Code began with no test within ${START_MS / 1000} s`);
  }
}

async function main(files: readonly string[]): Promise<void> {
  const resultsFile = process.env[RESULTS_VARIABLE];
  if (!resultsFile) throw new Error(`${RESULTS_VARIABLE} names no file; run this by \`npm test -- extension\``);
  const tests = await bundle(files);
  const workspace = await mkdtemp(join(tmpdir(), 'workspace-'));
  try {
    await cp('examples', workspace, { recursive: true, filter: (path) => !path.includes('.rlenv/') });
    const extension = process.cwd();
    if (await desktopAvailable()) {
      await runInDesktop({ workspace, extension, tests }).catch((error: unknown) => console.error(error));
      await finished(resultsFile);
      await stopRunner(process.env[RUNNER_FOLDER]!);
      return;
    }
    const code = await launchVsCode({ workspace, extension, tests });
    try {
      await finished(resultsFile);
    } catch (error) {
      console.error(code.log.slice(-100).join('\n'));
      throw error;
    } finally {
      await code.close();
    }
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
