import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSuite, type SuiteOutcome } from '../../../scripts/lib/runSuite.mjs';
import { skip } from '../../support/skip.js';

describe('the runner of test suites', function () {
  this.timeout(60_000);
  let scratch: string;
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'suite-'));
  });
  after(() => rm(scratch, { recursive: true, force: true }));

  const run = (files: readonly string[], timeoutMs: number, retries = 0) => runSuite({ name: 'fixture', timeoutMs, retries, files: () => Promise.resolve(files) }, { scratch, env: {}, onProgress: () => undefined });

  describe('on tests in every state', () => {
    let outcome: SuiteOutcome;
    before(async () => {
      outcome = await run(['test/support/fixtures/outcomes.ts'], 30_000);
    });
    const failure = (title: string) => outcome.failures.find((entry) => entry.title === title)?.error;

    it('counts each once', () => {
      assert.equal(outcome.passed, 1);
      assert.equal(outcome.failures.length, 4, JSON.stringify(outcome.failures, null, 2));
      assert.equal(outcome.skips.length, 2);
    });

    it('shows the difference of a failed comparison', () => {
      const error = failure('outcomes fails');
      assert.match(error ?? '', /-\s+2\n\s+\+\s+3/);
      assert.match(error ?? '', /outcomes\.ts:\d+/);
    });

    it('tells a cause with its error', () => assert.match(failure('outcomes of a suite whose hook fails "before all" hook for "does not run"') ?? '', /Error: the hook[^]*caused by TypeError: what was behind it/));

    it('takes the reason of a skip from the test or from the hook around it', () =>
      assert.deepEqual(
        outcome.skips.map(({ title, reason }) => [title, reason]),
        [
          ['outcomes skips', 'the reason'],
          ['outcomes of a suite that cannot run is skipped', 'its reason'],
        ],
      ));

    it('fails what is skipped in silence', () => {
      assert.equal(failure('outcomes skips in silence'), 'skipped without a reason');
      assert.equal(failure('outcomes has no body'), 'skipped without a reason');
    });
  });

  it('tries again what may be tried again, and tells what passed only then', async () => {
    const { passed, flaky, failures } = await run(['test/support/fixtures/flaky.ts'], 30_000, 1);
    assert.equal(passed, 1);
    assert.deepEqual(flaky.map(({ title }) => title), ['attempts passes at the second']);
    assert.match(flaky[0]!.error, /the first/);
    assert.deepEqual(failures.map(({ title }) => title), ['attempts never passes']);
    assert.match(failures[0]!.error, /attempt 1[^]*at the second attempt[^]*attempt 2/);
  });

  it('tries nothing again otherwise', async () => assert.equal((await run(['test/support/fixtures/flaky.ts'], 30_000)).failures.length, 2));

  it('stops a suite at its deadline, says what had not ended, and what was left behind', async function () {
    if (process.platform !== 'linux') skip(this, 'leftovers are looked for on Linux');
    // Time for a slow machine to come to the test that hangs.
    this.timeout(90_000);
    const { passed, failures } = await run(['test/support/fixtures/hangs.ts'], 20_000);
    assert.equal(passed, 1);
    assert.match(failures[0]?.error ?? '', /not finished: hangs never ends/);
    assert.match(failures[1]?.error ?? '', /left behind:\nprocess \d+: sleep 300/);
    assert.equal(failures.length, 2);
  });

  it('fails a suite without tests', async () => assert.match((await run([], 20_000)).failures[0]?.error ?? '', /no test/));
});
