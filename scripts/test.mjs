// `npm test`: installs what suites need and may be installed, builds, runs the suites, and counts. Names of suites pick some of them;
// `--grep PATTERN` picks tests, `--slowest N` names those of each suite that took longest. The last line is always `N passed, N failed, N skipped`; the exit code is 1 if any failed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { killGroups, run } from './lib/command.mjs';
import { watchLeftovers } from './lib/leftovers.mjs';
import { Machine } from './lib/machine.mjs';
import { runSuite } from './lib/runSuite.mjs';
import { seconds, StepFailed } from './lib/steps.mjs';
import { SUITES } from './lib/suites.mjs';
import { ensureDependencies } from './setup/dependencies.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const { values, positionals } = parseArgs({ options: { grep: { type: 'string' }, slowest: { type: 'string', default: '0' } }, allowPositionals: true });
const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length) {
  console.error(`There is no suite ${unknown.join(', ')}; there are ${SUITES.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const chosen = SUITES.filter(({ name }) => !positionals.length || positionals.includes(name));

const total = { passed: 0, failed: 0, skipped: 0 };
const machine = new Machine();
// A short path: sockets lie below it.
const scratch = await mkdtemp(join(tmpdir(), 'rlt-'));
const live = process.stdout.isTTY;
const clearLine = () => live && process.stdout.write('\r\x1b[2K');
const indent = (text) => text.replace(/^/gm, '    ');

async function tidyUp() {
  killGroups();
  await (await watchLeftovers(scratch))(0);
  await machine.close();
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
}

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) {
  process.once(signal, () => {
    clearLine();
    console.log(`stopped by ${signal}`);
    void tidyUp().finally(() => process.exit(code));
  });
}

/** Why the machine cannot run a suite. */
async function obstacle(suite) {
  for (const name of suite.needs) {
    const reason = await machine.need(name);
    if (reason) return reason;
  }
  return undefined;
}

function showProgress(suite, results) {
  if (!live) return;
  const [current = ''] = results.running;
  process.stdout.write(`\r\x1b[2K${`${suite.name}  ${results.executed} done  ${current}`.slice(0, (process.stdout.columns ?? 80) - 1)}`);
}

/** A build that fails is a failure; suites that do without it run all the same. */
async function build() {
  const { code, output } = await run(execPath, ['scripts/build.mjs'], { timeoutMs: 120_000, allowFailure: true });
  if (code === 0) return;
  console.log(`- failed: build\n${indent(output.trim())}`);
  total.failed += 1;
}

async function runOne(suite) {
  const started = performance.now();
  const { reason, broken } = await obstacle(suite).then((reason) => ({ reason }), (broken) => ({ broken }));
  const { passed, flaky, failures, skips, times } = broken
    ? { passed: 0, flaky: [], failures: [{ title: suite.name, error: `could not be set up: ${broken.message}` }], skips: [], times: [] }
    : reason
    ? { passed: 0, flaky: [], failures: [], skips: [{ title: suite.name, reason }], times: [] }
    : await runSuite(suite, { scratch, env: machine.env, grep: values.grep, onProgress: (results) => showProgress(suite, results) });
  clearLine();
  for (const { title, error } of failures) console.log(`- failed: ${title}\n${indent(error)}`);
  for (const { title, error } of flaky) console.log(`- flaky, passed at the second attempt: ${title}\n${indent(error)}`);
  for (const { title, reason: why } of skips) console.log(`- skipped: ${title}: ${why.replaceAll(/\s+/g, ' ')}`);
  const again = flaky.length ? ` (${flaky.length} at the second attempt)` : '';
  console.log(`${suite.name}: ${passed} passed${again}, ${failures.length} failed, ${skips.length} skipped  (${seconds(performance.now() - started)})`);
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, Number(values.slowest));
  for (const { title, ms } of slowest) console.log(`    ${seconds(ms).padStart(8)}  ${title}`);
  total.passed += passed;
  total.failed += failures.length;
  total.skipped += skips.length;
}

async function inTurn(suites) {
  for (const suite of suites) await runOne(suite);
}

try {
  await ensureDependencies();
  await build();
  // Checks of the sources have one thread and no time in them: the machine does them beside the first suites.
  await Promise.all([inTurn(chosen.filter(({ command }) => command)), inTurn(chosen.filter(({ command }) => !command))]);
  if (values.grep && !total.passed && !total.failed) {
    console.log(`- failed: no test matches ${values.grep}`);
    total.failed += 1;
  }
} catch (error) {
  console.log(`- failed: ${error instanceof StepFailed ? error.message : error.stack}`);
  total.failed += 1;
}
await tidyUp().catch((error) => {
  console.log(`- failed: tidying up: ${error.message}`);
  total.failed += 1;
});
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed ? 1 : 0;
