/** Figures, sentences and command lines that people read. */
import assert from 'node:assert/strict';
import { cliCommand } from '../../../src/extension/cliCommand.js';
import { diagnostics } from '../../../src/extension/diagnostics.js';
import { details, Failure, isCancellation, reason, remedy } from '../../../src/extension/failure.js';
import { formatAgo, formatBytes, formatDuration, formatMean, formatRate, formatReward, oneLine } from '../../../src/extension/format.js';
import { Commands, InternalCommands } from '../../../src/extension/ids.js';
import { newTemplate } from '../../../src/extension/newTemplate.js';
import { checkSeeds, seedsText } from '../../../src/extension/seeds.js';
import { fixFor } from '../../../src/extension/views/fixes.js';
import { parseSeeds } from '../../../src/engine/seeds.js';
import { RunnerError } from '../../../src/runner/client.js';
import { parseTemplate } from '../../../src/template/parse.js';
import { FILE, NOW, ROOT, run } from './samples.js';

describe('figures', () => {
  it('never shows a missing number as 0', () => {
    assert.equal(formatReward(null), '—');
    assert.equal(formatReward(Number.NaN), '—');
    assert.equal(formatMean(null, null), '—');
    assert.equal(formatRate(null), '—');
    assert.equal(formatReward(0), '0');
  });

  it('shows rewards in as many digits as they have something to say', () => {
    assert.deepEqual([0.49712, 1, -0.5, 0.0123, 0.00071, 123456.789, 1e-7, 5e9].map(formatReward), ['0.497', '1.000', '-0.500', '0.012', '0.0007', '123456.789', '1.00e-7', '5.00e+9']);
    assert.equal(formatMean(0.5, null), '0.500');
  });

  it('shows sizes and times with one unit', () => {
    assert.deepEqual([0, 999, 1000, 12_345_678, 9.96e9].map(formatBytes), ['0 B', '999 B', '1.0 KB', '12 MB', '10.0 GB']);
    assert.deepEqual([0.4, 820, 4321, 41_000, 720_000, 10_800_000, 400_000_000].map(formatDuration), ['0 ms', '820 ms', '4.3 s', '41 s', '12 min', '3 h', '5 days']);
    assert.equal(formatAgo(NOW - 5_000, NOW), 'just now');
    assert.equal(formatAgo(NOW - 125_000, NOW), '2 min ago');
  });

  it('makes one harmless line of text from a sandbox', () => {
    assert.equal(oneLine('a\r\nb\u001b[31m\u0000c'), 'a b [31m c');
    assert.equal(oneLine('safe\u202Egnp.exe'), 'safe gnp.exe');
    assert.equal(oneLine('x\ud800y'), 'x y');
    assert.equal(oneLine('😀'.repeat(10), 4), '😀😀😀…');
  });
});

describe('failures', () => {
  const problems = [
    { file: FILE, line: 3, column: 1, endLine: 3, endColumn: 5, severity: 'error' as const, message: 'unknown key "sed"', path: 'sed' },
    { file: FILE, line: 9, column: 1, endLine: 9, endColumn: 5, severity: 'error' as const, message: 'expected a number', path: 'x' },
  ];

  it('gives the reason, the hint and the button that helps', () => {
    const unavailable = new RunnerError('no provider answers', { code: 'ProviderUnavailable', hint: 'start Docker' });
    assert.equal(reason(unavailable), 'no provider answers. start Docker');
    assert.equal(remedy(unavailable)?.command, Commands.doctor);
    assert.equal(remedy(new RunnerError('x', { code: 'ConnectionClosed' }))?.command, Commands.restartEngine);
    const template = new RunnerError('x', { code: 'TemplateError', problems });
    assert.equal(reason(template), 'line 3: unknown key "sed" (and 1 more)');
    assert.deepEqual(remedy(template), { title: 'Go to Problem', command: InternalCommands.openProblem, arguments: [{ file: FILE, line: 3, column: 1 }] });
    assert.match(details(template), /hello\.rlenv\.yaml:9:1: expected a number/);
    assert.equal(remedy(new Error('x')), undefined);
    assert.equal(remedy(new Failure('x', { title: 'Open', command: 'vscode.open' }))?.command, 'vscode.open');
  });

  it('keeps the output of a failed build for the log', () => {
    assert.match(details(new RunnerError('setup failed', { code: 'BuildFailed', output: 'E: no such package' })), /E: no such package/);
  });

  it('is silent about what someone cancelled, and about nothing else', () => {
    const cancelled = new DOMException('aborted', 'AbortError');
    assert.equal(isCancellation(cancelled), true);
    assert.equal(isCancellation(Object.assign(new Error('Canceled'), { name: 'Canceled' })), true);
    assert.equal(isCancellation(new DOMException('late', 'TimeoutError')), false);
    assert.equal(isCancellation(new RunnerError('x')), false);
  });
});

describe('command line of a run', () => {
  const place = { root: ROOT, cli: '/ext/dist/cli.mjs', platform: 'linux' as const };

  it('asks for the same seeds, samples and limits', () => {
    assert.equal(cliCommand(run({ samples: 2 }), place), 'node /ext/dist/cli.mjs run hello.rlenv.yaml --seeds 0..511 --samples 2 -c 64 --provider bubblewrap --timeout 30000ms');
  });

  it('names the seeds of a rerun of some episodes', () => {
    assert.match(cliCommand(run({ seeds: { first: 10, last: 19 }, samples: 2, only: [0, 1, 6] }), place), /--seeds '10,13' --samples 2/);
    assert.match(cliCommand(run({ only: [7] }), place), /--seeds 7\.\.7 /);
  });

  it('quotes for the shell it is pasted into', () => {
    const odd = run({ file: "/work/it's $(rm -rf).rlenv.yaml" });
    assert.ok(cliCommand(odd, place).includes(`run 'it'\\''s $(rm -rf).rlenv.yaml' --seeds`));
    assert.ok(cliCommand(odd, { ...place, platform: 'win32' }).includes(`run 'it''s $(rm -rf).rlenv.yaml' --seeds`));
  });

  it('writes seeds so that the engine reads the same ones again', () => {
    for (const seeds of [{ first: 0, last: 511 }, { first: 7, last: 7 }, { list: [3, 17, 99] }]) assert.deepEqual(parseSeeds(seedsText(seeds)), seeds);
    assert.deepEqual(parseSeeds(seedsText({ list: [5] })), { first: 5, last: 5 });
  });

  it('refuses in the input box what the engine would refuse', () => {
    for (const text of ['512', '0..511', '3,17, 99', '', ' 7 ']) assert.equal(checkSeeds(text), undefined, text);
    for (const text of ['0', '5..2', 'a', '1..', '-3', '1.5', '3,,4', '0x10']) {
      assert.ok(checkSeeds(text), text);
      assert.throws(() => parseSeeds(text), text);
    }
  });
});

describe('help for a provider', () => {
  const provider = (id: string, code: 'not-installed' | 'not-running' | 'permission' | 'wrong-context' | 'error') => ({ id, title: id, ok: false, summary: 's', code });
  const machine = (osRelease: string) => ({ platform: 'linux' as const, osRelease, root: false });

  it('installs bubblewrap with the package manager of the machine', () => {
    const command = (osRelease: string) => fixFor(provider('bubblewrap', 'not-installed'), machine(osRelease));
    assert.deepEqual(command('ID=debian\n'), { kind: 'terminal', command: 'sudo apt-get install -y bubblewrap' });
    assert.deepEqual(command('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n'), { kind: 'terminal', command: 'sudo apt-get install -y bubblewrap' });
    assert.deepEqual(command('ID=rocky\nID_LIKE="rhel centos fedora"\n'), { kind: 'terminal', command: 'sudo dnf install -y bubblewrap' });
    assert.equal(command('ID=strange').kind, 'page');
    assert.deepEqual(fixFor(provider('bubblewrap', 'not-installed'), { ...machine('ID=debian'), root: true }), { kind: 'terminal', command: 'apt-get install -y bubblewrap' });
  });

  it('starts Docker, or the context that it looks in', () => {
    assert.deepEqual(fixFor(provider('docker', 'not-running'), machine('')), { kind: 'terminal', command: 'sudo systemctl start docker' });
    assert.deepEqual(fixFor(provider('docker', 'wrong-context'), machine('')), { kind: 'terminal', command: 'docker context use default' });
    assert.equal(fixFor(provider('docker', 'not-installed'), machine('')).kind, 'page');
    assert.equal(fixFor(provider('docker', 'error'), machine('')).kind, 'doctor');
  });
});

describe('diagnostics', () => {
  it('holds versions, providers, limits and what helps', () => {
    const text = diagnostics(
      {
        version: '0.1.0', node: 'v20', platform: 'linux x64', chosen: { id: 'bubblewrap', why: 'it starts fastest' },
        providers: [
          { id: 'bubblewrap', title: 'bubblewrap', ok: true, summary: 'bubblewrap 0.8.0', limits: { cpu: 'cgroup', memory: 'cgroup', pids: 'rlimit', disk: 'none' } },
          { id: 'docker', title: 'Docker', ok: false, summary: 'no socket', hint: 'start Docker' },
        ],
      },
      { extension: '0.1.0', vscode: '1.96.0', app: 'code', trusted: false, folders: 2, engine: 42 },
    );
    for (const part of ['VS Code 1.96.0', 'process 42', '2 folders, not trusted', '"auto" takes bubblewrap', 'pids by rlimit, disk by nothing', 'Docker: not available', 'what helps: start Docker']) assert.ok(text.includes(part), part);
  });
});

describe('a first template', () => {
  it('is valid as it is', () => {
    const { template, problems } = parseTemplate(newTemplate('my-env'), '/w/my-env.rlenv.yaml');
    assert.deepEqual(problems, []);
    assert.equal(template?.name, 'my-env');
  });
});
