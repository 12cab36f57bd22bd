/** Rewards against real sandboxes: what verifiers leave, what episodes forge, what goes wrong. */
import { strict as assert } from 'node:assert';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Suite } from 'mocha';
import { OutputCapture } from '../../src/rollout/output.js';
import { computeReward, type RewardContext } from '../../src/rollout/rewards/index.js';
import { SandboxError } from '../../src/sandbox/errors.js';
import type { Sandbox } from '../../src/sandbox/provider.js';
import { openProvider } from '../../src/sandbox/registry.js';
import type { RewardOutcome } from '../../src/store/records.js';
import { templateSchema } from '../../src/template/schema.js';
import type { Template } from '../../src/template/template.js';
import type { Subject } from './conformance.js';
import { NoEngine, dockerSubject } from './docker/subject.js';
import { skip } from '../support/skip.js';
import { Bench, commandLines, output, run, until } from './conformance/bench.js';

describe('rewards in bubblewrap', function () {
  rewards.call(this, async (stateDir) => {
    const context = { stateDir, log: () => undefined };
    return { provider: await openProvider('bubblewrap', context), base: {}, context };
  });
});

describe('rewards in Docker', function () {
  rewards.call(this, dockerSubject);
});

function rewards(this: Suite, open: (stateDir: string) => Promise<Subject>): void {
  this.timeout(120_000);
  const bench = new Bench();
  let folder: string;

  before(async function () {
    this.timeout(600_000);
    folder = await mkdtemp(join(tmpdir(), 'rl-rewards-'));
    await writeFile(join(folder, 'expected.txt'), 'one\ntwo\nthree\n');
    const subject = await open(join(folder, 'state')).catch((error: unknown) => {
      if (error instanceof NoEngine) skip(this, error.message);
      throw error;
    });
    await bench.start(subject);
  });
  after(async () => {
    await bench.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => bench.terminateAll());

  /** A template's reward, with what the schema fills in; `expected` is a file of the test's folder. */
  function template(reward: unknown, others: Partial<Template> = {}): Template {
    const parsed = templateSchema.parse({ name: 'test', episode: { run: 'true' }, reward });
    return { file: join(folder, 'test.rlenv.yaml'), directory: folder, env: {}, secrets: {}, reward: parsed.reward, ...others } as unknown as Template;
  }

  function contextOf(sandbox: Sandbox, others: Partial<RewardContext> = {}): RewardContext {
    return {
      sandbox,
      seed: 17,
      sample: 2,
      episode: 5,
      exitCode: 3,
      stdout: new OutputCapture(),
      verifierOutput: new OutputCapture(),
      secrets: {},
      environment: process.env,
      clean: (stream) => stream,
      openScoringSandbox: () => assert.fail('no scoring sandbox was expected'),
      signal: new AbortController().signal,
      ...others,
    };
  }

  /** Lets an episode act in a fresh sandbox, then scores it. */
  async function score(reward: unknown, { act = 'true', context, template: others }: { act?: string; context?: Partial<RewardContext>; template?: Partial<Template> } = {}): Promise<RewardOutcome> {
    const sandbox = await bench.restore();
    await run(sandbox, act);
    return computeReward(template([reward], others), contextOf(sandbox, context));
  }

  /** What there is, and why there is none. */
  const short = ({ reward, problem }: RewardOutcome): number | string => reward ?? problem!.code;

  describe('read from what a verifier prints', () => {
    const cases: readonly [string, object, number | string, RegExp?][] = [
      ['its last line', { type: 'stdout', run: 'echo hello; echo 0.5' }, 0.5],
      ['Python', { type: 'stdout', python: 'print(1 / 4)' }, 0.25],
      ['the episode\'s variables', { type: 'stdout', run: 'echo "$RL_SEED$RL_SAMPLE$RL_EPISODE$RL_EXIT_CODE"' }, 17_253],
      ['nothing', { type: 'stdout', run: 'true' }, 'empty', /verifier's standard output is empty/],
      ['a number on standard error', { type: 'stdout', run: 'echo 1 >&2' }, 'empty'],
      ['a number and a failure', { type: 'stdout', run: 'echo 1; echo "it broke" >&2; exit 3' }, 'verifier-failed', /exit code 3; its last line is "it broke"/],
      ['a command that fails midway', { type: 'stdout', run: 'false\necho 1' }, 'verifier-failed', /exit code 1/],
      ['without end', { type: 'stdout', run: 'echo 1; sleep 600', timeout: '1s' }, 'timed-out', /did not end within 1 s/],
      ['a hundred megabytes', { type: 'stdout', run: 'head -c 100000000 /dev/zero | tr "\\0" 9; echo; echo 0.5' }, 0.5],
      ['a hundred megabytes in one line', { type: 'stdout', run: 'head -c 100000000 /dev/zero | tr "\\0" 9' }, 'too-large'],
      ['bytes that are no text', { type: 'stdout', run: "printf '\\377\\200\\n'" }, 'not-numeric'],
      ['success', { type: 'exit_code', run: 'exit 0' }, 1],
      ['failure', { type: 'exit_code', run: 'exit 9' }, 0],
      ['no such command', { type: 'exit_code', run: 'no-such-command' }, 'verifier-failed', /127: a command was not found/],
      ['not in time', { type: 'exit_code', run: 'sleep 600', timeout: '1s' }, 'timed-out'],
    ];
    for (const [name, reward, expected, message] of cases) {
      it(name, async () => {
        const outcome = await score(reward);
        assert.equal(short(outcome), expected, JSON.stringify(outcome));
        if (message) assert.match(outcome.problem!.message, message);
      });
    }

    it('and kept', async () => {
      const verifierOutput = new OutputCapture();
      await score({ type: 'stdout', run: 'echo out; echo err >&2; echo 1' }, { context: { verifierOutput } });
      assert.deepEqual(verifierOutput.text().split('\n').sort(), ['', '1', 'err', 'out']);
    });
  });

  describe('read from reward files', () => {
    const V = '/logs/verifier';
    const cases: readonly [string, string, number | string][] = [
      ['none', 'true', 'missing'],
      ['reward.txt', `echo 0.5 > ${V}/reward.txt`, 0.5],
      ['reward.json', `echo '{"reward": 0.5, "style": 1}' > ${V}/reward.json`, 0.5],
      ['a byte order mark', `printf '\\357\\273\\2770.5' > ${V}/reward.txt`, 0.5],
      ['both, equal', `echo 0.50 > ${V}/reward.txt; echo '{"reward": 5e-1}' > ${V}/reward.json`, 0.5],
      ['both, different', `echo 0.5 > ${V}/reward.txt; echo 0.6 > ${V}/reward.json`, 'conflicting'],
      ['both, one of them no number', `echo abc > ${V}/reward.txt; echo 0.6 > ${V}/reward.json`, 'conflicting'],
      ['both, the first one malformed', `echo 0.5 > ${V}/reward.txt; echo '{' > ${V}/reward.json`, 'not-numeric'],
      ['empty', `: > ${V}/reward.txt`, 'empty'],
      ['not finite', `echo '{"reward": 1, "other": NaN}' > ${V}/reward.json`, 'not-finite'],
      ['too large', `head -c 2000000 /dev/zero > ${V}/reward.txt`, 'too-large'],
      ['two lines', `printf '0.5\\n0.6\\n' > ${V}/reward.txt`, 'not-numeric'],
      ['a folder', `mkdir ${V}/reward.txt`, 'missing'],
      ['a pipe that nobody writes to', `mkfifo ${V}/reward.json`, 'missing'],
      ['a link to nowhere', `ln -s nowhere ${V}/reward.json`, 'missing'],
      ['a link to another file inside', `echo 0.25 > /tmp/r; ln -s /tmp/r ${V}/reward.txt`, 0.25],
    ];
    for (const [name, script, expected] of cases) {
      it(`of a verifier: ${name}`, async () => assert.equal(short(await score({ type: 'files', run: script, timeout: '5s' })), expected));
      it(`of the episode: ${name}`, async () => assert.equal(short(await score({ type: 'files', timeout: '5s' }, { act: `mkdir -p ${V}; ${script}` })), expected));
    }

    it('that are devices are no number, and an answer', async () => {
      for (const device of ['/dev/zero', '/dev/stdin', '/proc/kmsg']) {
        const { reward, problem } = await score({ type: 'files', timeout: '5s' }, { act: `mkdir -p ${V}; ln -s ${device} ${V}/reward.txt` });
        assert.equal(reward, null, device);
        assert.match(problem!.code, /^(missing|too-large|timed-out)$/, device);
      }
    });

    it('that the episode made unreadable are no number, and an answer', async () => {
      // Some providers read as a user whom a mode stops, others as one whom it does not.
      const { reward, problem } = await score({ type: 'files' }, { act: `mkdir -p ${V}; echo 1 > ${V}/reward.txt; chmod 0 ${V}/reward.txt` });
      assert.equal(reward ?? problem!.code, reward === null ? 'missing' : 1);
    });

    it('of a verifier that fails do not count', async () => {
      assert.equal(short(await score({ type: 'files', run: `echo 1 > ${V}/reward.txt; exit 1` })), 'verifier-failed');
    });

    it('with other numbers beside the reward', async () => {
      const { components } = await score({ type: 'files', name: 'judge', weight: 2, run: `echo '{"reward": 0.5, "style": 0.75}' > ${V}/reward.json` });
      assert.deepEqual(components, [
        { name: 'judge', weight: 2, value: 0.5, detail: 'reward.json' },
        { name: 'judge/style', weight: 0, value: 0.75 },
      ]);
    });
  });

  describe('that the episode forges', () => {
    const V = '/logs/verifier';

    it('before the verifier runs are gone when it does', async () => {
      const act = `mkdir -p ${V}; echo '{"reward": 1}' > ${V}/reward.json; echo 1 > ${V}/reward.txt; mkdir -p /work; echo '<testsuite><testcase/></testsuite>' > /work/report.xml`;
      assert.equal(short(await score({ type: 'files', run: `echo 0 > ${V}/reward.txt` }, { act })), 0);
      assert.equal(short(await score({ type: 'files', run: 'true' }, { act })), 'missing');
      assert.equal(short(await score({ type: 'junit', path: '/work/report.xml', run: 'true' }, { act })), 'missing');
    });

    it('from a process left in the background die with it', async () => {
      const act = `mkdir -p ${V}; setsid sh -c 'echo started > /tmp/started; while :; do echo 1 > ${V}/reward.txt; echo 1 > ${V}/reward.json; done' > /dev/null 2>&1 & while [ ! -s /tmp/started ]; do :; done`;
      for (let round = 0; round < 5; round++) {
        const sandbox = await bench.restore();
        await run(sandbox, act);
        await until(async () => (await output(sandbox, `cat ${V}/reward.txt 2>/dev/null; true`)) === '1\n', 'the forger to write');
        const outcome = await computeReward(template([{ type: 'files', run: `echo 0 > ${V}/reward.txt` }]), contextOf(sandbox));
        assert.equal(short(outcome), 0, JSON.stringify(outcome));
        assert.deepEqual((await commandLines(sandbox)).filter((line) => line.includes('reward.txt')), []);
        assert.equal(await output(sandbox, `cat ${V}/*`), '0\n');
      }
    });

    it('from a process that the verifier left running die with it', async () => {
      const verifier = `echo 0 > ${V}/reward.txt; setsid sh -c 'while :; do sleep 1; echo 1 > ${V}/reward.txt; done' > /dev/null 2>&1 &`;
      const sandbox = await bench.restore();
      assert.equal(short(await computeReward(template([{ type: 'files', run: verifier }]), contextOf(sandbox))), 0);
      assert.deepEqual((await commandLines(sandbox)).filter((line) => line.includes('reward.txt')), []);
    });

    it('by a link never reach a file of this machine', async () => {
      const secret = join(folder, 'secret.txt');
      await writeFile(secret, '0.125\n');
      const act = `mkdir -p ${V}; ln -s '${secret}' ${V}/reward.txt`;
      assert.equal(short(await score({ type: 'files' }, { act })), 'missing');
      assert.equal(short(await score({ type: 'diff', path: `${V}/reward.txt`, expected: secret }, { act })), 0);
    });

    it('by a link are not written through', async () => {
      const sandbox = await bench.restore();
      await run(sandbox, `echo precious > /srv/precious; mkdir -p ${V}; ln -s /srv/precious ${V}/reward.txt`);
      assert.equal(short(await computeReward(template([{ type: 'files', run: `echo 0 > ${V}/reward.txt` }]), contextOf(sandbox))), 0);
      assert.equal(await output(sandbox, 'cat /srv/precious'), 'precious\n');
    });

    it('by a file in place of the folder are a failed verifier', async () => {
      assert.equal(short(await score({ type: 'files', run: `echo 1 > ${V}/reward.txt` }, { act: 'mkdir -p /logs; echo 1 > /logs/verifier' })), 'verifier-failed');
    });
  });

  describe('read from test reports', () => {
    const report = '<testsuites><testsuite><testcase/><testcase><failure/></testcase><testcase><skipped/></testcase></testsuite></testsuites>';

    it('count although the test runner failed, as it does when tests do', async () => {
      const outcome = await score({ type: 'junit', path: '/work/r.xml', run: `mkdir -p /work; echo '${report}' > /work/r.xml; exit 1` });
      assert.equal(outcome.reward, 0.5);
      assert.equal(outcome.components[0]!.detail, '1 of 2 tests passed, 1 skipped');
    });

    it('that are not there are missing, or a failed verifier', async () => {
      assert.equal(short(await score({ type: 'junit', path: '/work/r.xml' })), 'missing');
      const outcome = await score({ type: 'ctrf', path: '/work/r.json', run: 'echo "no module named pytest" >&2; exit 1' });
      assert.match(outcome.problem!.message, /exit code 1 and left no report \/work\/r.json; its last line is "no module named pytest"/);
      assert.equal(short(await score({ type: 'junit', path: '/work/r.xml', run: 'mkdir -p /work; : > /work/r.xml' })), 'empty');
    });

    it('in CTRF', async () => {
      const ctrf = JSON.stringify({ results: { tool: { name: 't' }, summary: { tests: 4, passed: 3, failed: 1, skipped: 0, pending: 0, other: 0 }, tests: ['passed', 'passed', 'failed', 'passed'].map((status) => ({ name: 'n', status })) } });
      assert.equal(short(await score({ type: 'ctrf', path: '/work/r.json' }, { act: `mkdir -p /work; echo '${ctrf}' > /work/r.json` })), 0.75);
    });

    it('that are larger than a report', async () => {
      assert.equal(short(await score({ type: 'junit', path: '/work/r.xml' }, { act: 'mkdir -p /work; head -c 5000000 /dev/zero > /work/r.xml' })), 'too-large');
    });
  });

  describe('by the difference from an expected file', () => {
    const of = (mode: string, script: string) => score({ type: 'diff', path: '/work/answer', expected: join(folder, 'expected.txt'), mode }, { act: `mkdir -p /work; ${script}` });

    for (const [mode, script, expected] of [
      ['exact', "printf 'one\\ntwo\\nthree\\n' > /work/answer", 1],
      ['exact', "printf 'one\\ntwo\\nthree' > /work/answer", 0],
      ['exact', "printf 'one\\ntwo\\nthree\\n\\n' > /work/answer", 0],
      ['exact', 'true', 0],
      ['lines', "printf 'one\\r\\ntwo\\r\\nthree' > /work/answer", 1],
      ['lines', "printf 'zero\\none\\nthree\\nfour\\nfive\\n' > /work/answer", 0.5],
      ['lines', ': > /work/answer', 0],
      ['lines', 'true', 0],
      ['lines', 'yes | head -n 20001 > /work/answer', 'too-large'],
    ] as const)
      it(`${mode}: ${script} is ${expected}`, async () => assert.equal(short(await of(mode, script)), expected));

    it('says that the file is not there', async () => assert.equal((await of('exact', 'true')).components[0]!.detail, 'no such file: /work/answer'));

    it('needs the expected file', async () => {
      const outcome = await score({ type: 'diff', path: '/work/answer', expected: join(folder, 'nowhere.txt') });
      assert.equal(short(outcome), 'verifier-failed');
      assert.match(outcome.problem!.message, /cannot read the expected file .*nowhere.txt: ENOENT/);
    });
  });

  describe('by a program on this machine', () => {
    const act = 'mkdir -p /work/out; echo 40 > /work/out/a; echo 2 > /work/out/b; echo no > /work/c; ln -s /etc/passwd /work/out/link';
    const scorer = (script: string, others: object = {}) => ({ type: 'scorer', command: ['sh', '-c', script, 'scorer', '$(echo no shell)'], files: ['/work/out/*'], ...others });

    it('that is given the files, and nothing but them', async () => {
      assert.equal(short(await score(scorer('cd "$RL_FILES" && test "$(find . -type f | sort | tr "\\n" " ")" = "./work/out/a ./work/out/b " && echo $(( $(cat work/out/a) + $(cat work/out/b) ))'), { act })), 42);
      assert.equal(short(await score(scorer('test -e "$RL_FILES/work/out/link" && echo 1 || echo 0'), { act })), 0);
      assert.equal(short(await score(scorer('find "$RL_FILES" -type f | wc -l'))), 0);
    });

    it('in the template\'s folder, with its arguments as they are', async () => {
      assert.equal(short(await score(scorer(`test "$PWD" = '${folder}' && test "$1" = '$(echo no shell)' && echo 1`))), 1);
    });

    it('with the environment that the template names and no other', async () => {
      process.env.RL_TEST_HIDDEN = 'hidden';
      try {
        const script = 'test -z "$RL_TEST_HIDDEN" && test "$KEY" = named && test "$MODE" = fast && echo "$RL_SEED"';
        assert.equal(short(await score(scorer(script), { template: { env: { MODE: 'fast' } }, context: { secrets: { KEY: 'named' } } })), 17);
      } finally {
        delete process.env.RL_TEST_HIDDEN;
      }
    });

    it('that prints named numbers', async () => {
      const { reward, components } = await score(scorer(`echo loading; echo '{"reward": 0.5, "style": 1}'`));
      assert.equal(reward, 0.5);
      assert.deepEqual(components.map(({ name, value }) => [name, value]), [['scorer', 0.5], ['scorer/style', 1]]);
    });

    it('that fails, or is not there', async () => {
      assert.match((await score(scorer('echo 1; echo "no model" >&2; exit 4'))).problem!.message, /the scorer ended with exit code 4; its last line is "no model"/);
      assert.match((await score(scorer('kill -TERM $$'))).problem!.message, /the signal SIGTERM/);
      const missing = await score({ type: 'scorer', command: ['no-such-program-here'], files: ['/work/*'] });
      assert.equal(short(missing), 'verifier-failed');
      assert.match(missing.problem!.message, /cannot start the scorer "no-such-program-here": there is no such program/);
    });

    it('that does not end, with all that it started', async () => {
      const marker = join(folder, 'alive');
      const outcome = await score(scorer(`(while :; do date > '${marker}'; sleep 0.05; done) & sleep 600`, { timeout: '1s' }));
      assert.equal(short(outcome), 'timed-out');
      await rm(marker, { force: true });
      await sleep(300);
      await assert.rejects(readdir(marker), { code: 'ENOENT' });
    });

    it('that leaves something running which holds its output', async () => {
      assert.equal(short(await score(scorer('sleep 600 & echo 0.5'))), 0.5);
    });

    it('leaving no files behind', async () => {
      const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('rl-sandboxes-scorer-'));
      const before = await left();
      await score(scorer('echo 1; exit 1'), { act });
      assert.deepEqual(await left(), before);
    });
  });

  describe('by a second sandbox', () => {
    const openScoringSandbox = () => bench.restore();
    const act = 'mkdir -p /work; echo 0.75 > /work/answer; ln -s /etc/hostname /work/link';

    it('that is given the files', async () => {
      const outcome = await score({ type: 'sandbox', files: ['/work/answer'], run: 'test -e /work/answer && exit 1; cat "$RL_FILES/work/answer"' }, { act, context: { openScoringSandbox } });
      assert.equal(outcome.reward, 0.75, JSON.stringify(outcome));
    });

    it('which is ended, whatever came of it', async () => {
      for (const script of ['echo 1', 'exit 1', 'sleep 600']) {
        let scoring: Sandbox | undefined;
        await score({ type: 'sandbox', files: ['/work/*'], run: script, timeout: '2s' }, { act, context: { openScoringSandbox: async () => (scoring = await bench.restore()) } });
        const { id } = scoring!;
        assert(!(await bench.provider.list()).some((sandbox) => sandbox.id === id));
      }
    });

    it('that cannot be had, which is no reward but an error', async () => {
      await assert.rejects(score({ type: 'sandbox', files: ['/work/*'], run: 'echo 1' }, { act, context: { openScoringSandbox: () => Promise.reject(new SandboxError('no space')) } }), /no space/);
    });
  });

  it('as a weighted sum show every component, also when one has no value', async () => {
    const sandbox = await bench.restore();
    await run(sandbox, 'echo 0.5 > /srv/answer');
    const stdout = new OutputCapture();
    stdout.write(Buffer.from('2\n'));
    const reward = [{ type: 'stdout', weight: 0.25 }, { type: 'stdout', run: 'cat /srv/answer', weight: -1 }, { type: 'exit_code', name: 'exit' }];
    assert.deepEqual(await computeReward(template(reward), contextOf(sandbox, { stdout })), {
      reward: 0,
      components: [
        { name: 'stdout', weight: 0.25, value: 2 },
        { name: 'stdout 2', weight: -1, value: 0.5 },
        { name: 'exit', weight: 1, value: 0, detail: 'exit code 3' },
      ],
    });
    const broken = await computeReward(template([{ type: 'files' }, ...reward, { type: 'junit', path: '/none' }]), contextOf(sandbox, { stdout }));
    assert.equal(broken.reward, null);
    assert.equal(broken.problem!.code, 'missing');
    assert.match(broken.problem!.message, /^files: there is neither/);
    assert.deepEqual(broken.components.map(({ value }) => value), [null, 2, 0.5, 0, null]);
  });

  it('are errors of the machinery when the sandbox is gone, and never a value', async () => {
    for (const reward of [{ type: 'files' }, { type: 'stdout', run: 'echo 1' }, { type: 'diff', path: '/x', expected: join(folder, 'expected.txt') }, { type: 'scorer', command: ['echo', '1'], files: ['/x'] }]) {
      const sandbox = await bench.restore();
      await sandbox.terminate();
      await assert.rejects(computeReward(template([reward]), contextOf(sandbox)), SandboxError, JSON.stringify(reward));
    }
  });

  it('stop at once when the run is cancelled', async () => {
    for (const reward of [{ type: 'stdout', run: 'echo started; sleep 600' }, { type: 'scorer', command: ['sh', '-c', 'echo started; sleep 600'], files: ['/x'] }]) {
      const controller = new AbortController();
      const verifierOutput = new OutputCapture();
      const scoring = score(reward, { context: { verifierOutput, signal: controller.signal } });
      scoring.catch(() => undefined);
      await until(() => Promise.resolve(verifierOutput.total > 0), 'the verifier to start');
      controller.abort(new Error('cancelled by hand'));
      await assert.rejects(scoring, /cancelled by hand/);
    }
  });
}
