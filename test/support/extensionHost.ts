/** What runs inside VS Code's extension host: mocha, over the test files that the bundle holds. */
import Mocha from 'mocha';
import ResultsReporter, { RETRIES_VARIABLE } from './reporter.js';

/** Loads the tests, runs them, and resolves when all have ended. Rejects if any failed, as VS Code expects of a test run. */
export function runMocha(loadTests: () => void): Promise<void> {
  process.setSourceMapsEnabled(true);
  const mocha = new Mocha({ ui: 'bdd', timeout: 120_000, reporter: ResultsReporter, grep: process.env.RL_TEST_GREP || undefined, retries: Number(process.env[RETRIES_VARIABLE] ?? 0), forbidOnly: true });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  loadTests();
  return new Promise((resolve, reject) => mocha.run((failures) => (failures ? reject(new Error(`${failures} failed`)) : resolve())));
}
