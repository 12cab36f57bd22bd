import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecTimeout, SandboxLost } from '../../../src/sandbox/errors.js';
import { bytes, commandLines, ignoreOutput, output, run, until, type Bench } from './bench.js';
import { skip } from '../../support/skip.js';

const AWKWARD = ['', ' ', "it's", '"double"', '$HOME `id` $(id)', 'back\\slash', 'line\nbreak\n', '*', '-n', '--', 'ünï 🎲', '\t', '!', '~', '#x', "'\\''"];

/** Commands: output, exit codes, arguments, environment, input, deadlines, killing. */
export function commands(bench: Bench): void {
  describe('commands', () => {
    it('keep standard output, standard error and the exit code apart', async () => {
      const sandbox = await bench.restore();
      assert.deepEqual(await run(sandbox, 'echo out; echo err >&2; exit 7'), { code: 7, stdout: 'out\n', stderr: 'err\n' });
      for (const code of [0, 1, 126, 137, 255]) assert.equal((await run(sandbox, `exit ${code}`)).code, code);
      assert.equal((await run(sandbox, 'printf "no newline"')).stdout, 'no newline');
      assert.equal((await run(sandbox, 'kill -9 $$')).code, 137);
      assert.equal((await run(sandbox, 'kill -TERM $$')).code, 143);
    });

    it('that are not there exit with 127, without harm', async () => {
      const sandbox = await bench.restore();
      assert.equal((await run(sandbox, ['no-such-program'])).code, 127);
      assert.equal(await output(sandbox, 'echo fine'), 'fine\n');
    });

    it('get their arguments as they were given', async () => {
      const sandbox = await bench.restore();
      const printed = await output(sandbox, ['sh', '-c', 'for a do printf "%s|" "$a"; done', 'name', ...AWKWARD]);
      assert.equal(printed, AWKWARD.map((each) => `${each}|`).join(''));
      assert.equal(await output(sandbox, ['printf', '%s|', ...AWKWARD.slice(1)]), AWKWARD.slice(1).map((each) => `${each}|`).join(''));
    });

    it('get the environment of the sandbox and their own, which wins', async () => {
      const value = 'first\nsecond "quoted" \'single\' $HOME \\ ünï';
      const sandbox = await bench.restore({ env: { FROM_SPEC: value, BOTH: 'spec' } });
      const script = 'printf "%s|%s|%s" "$FROM_SPEC" "$OWN" "$BOTH"';
      for (let time = 0; time < 2; time++) assert.equal(await output(sandbox, script, { env: { OWN: value, BOTH: 'own' } }), `${value}|${value}|own`);
      assert.equal(await output(sandbox, script), `${value}||spec`, 'the environment of one command must not reach the next');
      assert.equal(await output(sandbox, 'echo ${PATH:+set}'), 'set\n');
    });

    it('show no value of the environment on the host, neither in arguments nor in the folder of state', async function () {
      if (process.platform !== 'linux') {
        skip(this, 'host processes are read from /proc');
      }
      const secret = `hidden-${process.pid}-value`;
      const sandbox = await bench.restore({ env: { SECRET: secret } });
      const child = sandbox.exec(['sh', '-c', 'echo started; read line'], { env: { OTHER: secret }, stdin: new Readable({ read() {} }) });
      child.stderr.resume();
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      for (const pid of pids) {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        assert.ok(!line.includes(secret), line);
      }
      const entries = await readdir(bench.subject.context.stateDir, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) if (entry.isFile() && entry.name.endsWith('.json')) assert.ok(!(await readFile(`${entry.parentPath}/${entry.name}`, 'utf8')).includes(secret));
      const exit = assert.rejects(child.exit, SandboxLost);
      await sandbox.terminate();
      await exit;
    });

    it('run in the folder they are given, else in that of the sandbox', async () => {
      const sandbox = await bench.restore({ workdir: '/srv/task' });
      assert.equal(await output(sandbox, 'pwd'), '/srv/task\n');
      assert.equal(await output(sandbox, 'mkdir "/tmp/with space"; pwd', { cwd: '/usr' }), '/usr\n');
      assert.equal(await output(sandbox, 'pwd', { cwd: '/tmp/with space' }), '/tmp/with space\n');
      assert.notEqual((await run(sandbox, 'pwd', { cwd: '/missing' })).code, 0);
    });

    it('read their input to its end, and none if there is none', async () => {
      const sandbox = await bench.restore();
      assert.equal(await output(sandbox, 'cat', { stdin: 'text ünï\n' }), 'text ünï\n');
      assert.equal(await output(sandbox, 'wc -c', { stdin: new Uint8Array(0) }).then((text) => text.trim()), '0');
      const big = Readable.from((function* () { for (let part = 0; part < 256; part++) yield Buffer.alloc(65_536, part); })());
      assert.equal((await output(sandbox, 'wc -c', { stdin: big })).trim(), String(256 * 65_536));
      assert.equal((await output(sandbox, 'wc -c')).trim(), '0');
      assert.equal(await output(sandbox, 'head -c 3; exit 0', { stdin: Readable.from(['x'.repeat(1 << 20)]) }), 'xxx', 'a command may leave its input unread');
    });

    it('give binary output and invalid UTF-8 untouched', async () => {
      const sandbox = await bench.restore();
      const all = Array.from({ length: 256 }, (_, code) => code);
      const octal = all.map((code) => `\\${code.toString(8).padStart(3, '0')}`).join('');
      assert.deepEqual([...(await bytes(sandbox, `printf '${octal}'`))], all);
      assert.deepEqual([...(await bytes(sandbox, `printf '\\377\\376\\355\\240\\200'`))], [0xff, 0xfe, 0xed, 0xa0, 0x80]);
    });

    it('deliver 64 MB to a reader that is slow, in bounded memory', async function () {
      if (bench.subject.slow) skip(this, bench.subject.slow);
      const sandbox = await bench.restore();
      const child = sandbox.exec(['sh', '-c', 'head -c 67108864 /dev/zero; echo end >&2']);
      const errors = child.stderr.toArray();
      const before = process.memoryUsage().rss;
      let total = 0;
      let chunks = 0;
      let peak = 0;
      for await (const chunk of child.stdout) {
        total += (chunk as Buffer).length;
        if (++chunks % 16 === 0) await pause(1);
        peak = Math.max(peak, process.memoryUsage().rss - before);
      }
      assert.equal(total, 67_108_864);
      assert.equal((await child.exit).code, 0);
      assert.equal(String(Buffer.concat((await errors) as Buffer[])), 'end\n');
      assert.ok(peak < 48 << 20, `${peak >> 20} MiB held`);
    });

    it('lose nothing if the reader starts only after the end', async () => {
      const sandbox = await bench.restore();
      const child = sandbox.exec(['sh', '-c', 'seq 1 5000; seq 1 10 >&2']);
      await child.exit;
      const lines = Buffer.concat((await child.stdout.toArray()) as Buffer[]).toString().split('\n');
      assert.equal(lines.length, 5001);
      assert.equal(Buffer.concat((await child.stderr.toArray()) as Buffer[]).toString().split('\n').length, 11);
    });

    it('may write to /dev/stdout and /dev/stderr', async () => {
      const sandbox = await bench.restore();
      assert.deepEqual(await run(sandbox, 'echo a > /dev/stdout; echo b > /dev/stderr'), { code: 0, stdout: 'a\n', stderr: 'b\n' });
    });

    it('can be interrupted: no signal is ignored from the start', async () => {
      const sandbox = await bench.restore();
      for (const signal of ['INT', 'QUIT', 'PIPE', 'HUP']) assert.equal((await run(sandbox, `kill -${signal} $$; exit 5`)).code, { INT: 130, QUIT: 131, PIPE: 141, HUP: 129 }[signal], signal);
    });

    it('run side by side', async () => {
      const sandbox = await bench.restore();
      const first = sandbox.exec(['sh', '-c', 'until [ -e /tmp/go ]; do sleep 0.05; done; cat /tmp/go']);
      ignoreOutput(first);
      const many = await Promise.all(Array.from({ length: 4 }, (_, index) => output(sandbox, `echo ${index}`)));
      assert.deepEqual(many, ['0\n', '1\n', '2\n', '3\n']);
      await output(sandbox, 'echo now > /tmp/go');
      assert.equal((await first.exit).code, 0);
    });

    it('are over when they exit, whatever they leave in the background', async () => {
      const sandbox = await bench.restore();
      assert.equal(await output(sandbox, 'sleep 300 & echo done'), 'done\n');
      assert.equal(await output(sandbox, 'setsid sh -c "sleep 301" & echo again'), 'again\n');
      const lines = await commandLines(sandbox);
      assert.ok(lines.some((line) => line.startsWith('sleep 300')), lines.join('\n'));
    });

    it('that outlive their deadline are killed inside, with all that they started', async () => {
      const sandbox = await bench.restore();
      const script = 'trap "" TERM INT HUP; setsid sh -c "trap \\"\\" TERM; sleep 7001" & sh -c "(sleep 7002 &)"; sleep 7003; echo survived > /srv/survived; sleep 7004';
      for (let time = 0; time < 2; time++) {
        const child = sandbox.exec(['sh', '-c', script], { timeoutMs: 1500 });
        ignoreOutput(child);
        await assert.rejects(child.exit, ExecTimeout);
        const left = (await commandLines(sandbox)).filter((line) => /sleep 700/.test(line));
        assert.deepEqual(left, []);
        assert.equal(await output(sandbox, 'ls /srv'), 'task\n');
      }
    });

    it('end with the reason of an aborted signal, killed inside', async () => {
      const sandbox = await bench.restore();
      const abort = new AbortController();
      const child = sandbox.exec(['sh', '-c', 'echo up; sleep 7005'], { signal: abort.signal });
      child.stderr.resume();
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const reason = new Error('no longer wanted');
      abort.abort(reason);
      await assert.rejects(child.exit, reason);
      assert.deepEqual((await commandLines(sandbox)).filter((line) => line.includes('sleep 7005')), []);
      const late = sandbox.exec(['sh', '-c', 'echo never > /srv/never'], { signal: abort.signal });
      ignoreOutput(late);
      await assert.rejects(late.exit, reason);
      assert.equal(await output(sandbox, 'ls /srv'), 'task\n');
    });

    it('end as lost when their sandbox goes away', async () => {
      const sandbox = await bench.restore();
      const child = sandbox.exec(['sh', '-c', 'echo up; sleep 300']);
      child.stderr.resume();
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const lost = assert.rejects(child.exit, SandboxLost);
      await bench.provider.terminate(sandbox.id);
      await lost;
      const after = sandbox.exec(['true']);
      ignoreOutput(after);
      await assert.rejects(after.exit, SandboxLost);
    });

    it('are all dead after killAll, daemons too, and the sandbox still runs commands', async () => {
      const sandbox = await bench.restore();
      const running = sandbox.exec(['sh', '-c', 'sh -c "(while :; do echo x >> /srv/beat; done) &"; trap "" TERM; sleep 7006']);
      ignoreOutput(running);
      await until(async () => (await run(sandbox, '[ -s /srv/beat ]')).code === 0, 'the daemon to write');
      await sandbox.killAll();
      assert.equal((await running.exit).code, 137);
      const size = await output(sandbox, 'wc -c < /srv/beat');
      assert.deepEqual((await commandLines(sandbox)).filter((line) => /sleep 7006|beat/.test(line)), []);
      assert.equal(await output(sandbox, 'wc -c < /srv/beat'), size);
      await sandbox.killAll();
      assert.equal(await output(sandbox, 'echo alive'), 'alive\n');
    });

    it('cannot fork beyond the limit, and killAll ends a fork bomb', async function () {
      if ((await bench.provider.check()).limits?.pids === 'none') skip(this, 'the number of processes is not limited here');
      const sandbox = await bench.withResources({ pids: 64 });
      const bomb = await run(sandbox, 'bomb() { bomb | bomb & }; bomb 2>/dev/null; i=0; while [ $i -lt 200 ]; do sleep 7007 & i=$((i+1)); done 2>&1', { timeoutMs: 10_000 }).catch((error: unknown) => error);
      assert.ok(bomb instanceof ExecTimeout || (bomb as { code: number }).code !== undefined);
      await sandbox.killAll();
      assert.deepEqual((await commandLines(sandbox)).filter((line) => /bomb|7007/.test(line)), []);
      const digest = createHash('sha256').update('still here\n').digest('hex');
      assert.ok((await output(sandbox, 'echo still here | sha256sum')).startsWith(digest));
    });
  });
}
