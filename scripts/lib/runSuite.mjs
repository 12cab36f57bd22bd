// Runs one suite in a process group and a scratch folder of its own, and says how it went.
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { run } from './command.mjs';
import { watchLeftovers } from './leftovers.mjs';
import { Results } from './results.mjs';

const MOCHA = 'mocha/bin/mocha.js';
const NOBODY = 65534;
/** How long a suite may take to end after its last test: connections close, processes go. */
const GRACE_MS = 20_000;
const POLL_MS = 200;

/** Everything that a suite writes outside the clone goes below its scratch folder; what is cached between clones does not. */
function scratchEnvironment(scratch) {
  return {
    TMPDIR: scratch,
    TMP: scratch,
    TEMP: scratch,
    XDG_STATE_HOME: join(scratch, 'state'),
    XDG_DATA_HOME: join(scratch, 'data'),
    XDG_CONFIG_HOME: join(scratch, 'config'),
    XDG_RUNTIME_DIR: join(scratch, 'runtime'),
    RL_SANDBOXES_RUNTIME_DIR: join(scratch, 'runner'),
  };
}

/**
 * Argument vector that runs `argv` in this folder as an ordinary user. The clone may lie where only root may look, so it is mounted, in
 * a namespace that ends with the command, where anyone may.
 */
function asNobody(argv, scratch) {
  const clone = join(scratch, 'clone');
  const script = 'mkdir "$1" && mount --bind "$PWD" "$1" && cd "$1" && shift && exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"';
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', script, 'sh', clone, ...argv];
}

function argvOf(suite, files, grep) {
  if (suite.command) return [execPath, join('node_modules', suite.command[0]), ...suite.command.slice(1)];
  if (suite.runner) return [execPath, '--import', 'tsx', suite.runner, ...files];
  return [execPath, join('node_modules', MOCHA), '--reporter', 'test/support/reporter.ts', '--retries', String(suite.retries ?? 0), ...(grep ? ['--grep', grep] : []), ...files];
}

const failure = (suite, error) => ({ title: suite.name, error });

/** Failures of the run as a whole, besides those of its tests. */
function wholeFailures(suite, results, { code, timedOut, output, late }, grep) {
  const tail = output.trim();
  if (late) return [failure(suite, `did not end within ${GRACE_MS / 1000} s after its last test: something is still open`)];
  if (timedOut) {
    const unfinished = [...results.running].map((title) => `not finished: ${title}`);
    return [failure(suite, [`did not end within ${suite.timeoutMs / 60_000} minutes and was stopped`, ...unfinished, tail].join('\n'))];
  }
  if (!results.ended) return [failure(suite, `ended with exit code ${code} before its last test\n${tail}`)];
  if (code !== 0 && !results.failures.length) return [failure(suite, `ended with exit code ${code}\n${tail}`)];
  if (!results.executed && !results.skips.length && !grep) return [failure(suite, 'ran no test')];
  return [];
}

/**
 * @param {import('./suites.mjs').Suite} suite
 * @param {{ scratch: string, env: NodeJS.ProcessEnv, grep?: string, onProgress: (results: Results) => void }} options `scratch` is a folder that exists
 * @returns {Promise<{ passed: number, flaky: { title: string, error: string }[], failures: { title: string, error: string }[], skips: { title: string, reason: string }[], times: { title: string, ms: number }[] }>}
 */
export async function runSuite(suite, { scratch: parent, env, grep, onProgress }) {
  const files = suite.files ? await suite.files() : [];
  if (suite.files && !files.length) return { passed: 0, flaky: [], failures: [failure(suite, 'has no test files')], skips: [], times: [] };

  const scratch = join(parent, suite.name);
  const folders = scratchEnvironment(scratch);
  const resultsFile = join(scratch, 'results.jsonl');
  for (const folder of new Set(Object.values(folders))) await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(resultsFile, '');
  const lowered = suite.user === 'ordinary' && process.getuid() === 0;
  if (lowered) {
    await chmod(parent, 0o755);
    for (const path of [...new Set(Object.values(folders)), resultsFile]) await chown(path, NOBODY, NOBODY);
  }
  const leftovers = await watchLeftovers(scratch, env);

  const [command, ...args] = lowered ? asNobody(argvOf(suite, files, grep), scratch) : argvOf(suite, files, grep);
  const results = new Results(resultsFile);
  const abort = new AbortController();
  let endedAt;
  const poll = setInterval(() => {
    void results.update().then(() => {
      onProgress(results);
      if (results.ended) endedAt ??= Date.now();
      if (endedAt && Date.now() - endedAt > GRACE_MS) abort.abort();
    });
  }, POLL_MS);
  const environment = { ...process.env, ...env, ...folders, ...(lowered ? { HOME: scratch } : {}), RL_TEST_RESULTS: resultsFile, RL_TEST_RETRIES: String(suite.retries ?? 0), ...(grep ? { RL_TEST_GREP: grep } : {}) };
  const outcome = await run(command, args, { env: environment, timeoutMs: suite.timeoutMs, signal: abort.signal, allowFailure: true }).finally(() => clearInterval(poll));
  await results.update();

  const lines = await leftovers();
  const left = lines.length ? [failure(suite, ['left behind:', ...lines].join('\n'))] : [];
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 }).catch((error) => left.push(failure(suite, `left behind what cannot be removed: ${error.message}`)));
  if (suite.command) {
    const failed = outcome.code !== 0 || outcome.timedOut;
    return { passed: failed ? 0 : 1, flaky: [], failures: [...(failed ? [failure(suite, outcome.output.trim())] : []), ...left], skips: [], times: [] };
  }
  const whole = wholeFailures(suite, results, { ...outcome, late: abort.signal.aborted }, grep);
  return { passed: results.passed, flaky: results.flaky, failures: [...results.failures, ...whole, ...left], skips: results.skips, times: results.times };
}
