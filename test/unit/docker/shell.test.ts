/** The shell texts, run by the shells that are here: no container is needed to try what a shell does with them. */
import { strict as assert } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { framed, LASTING_WRAPPER, preparation, WRAPPER, type Command } from '../../../src/sandbox/docker/shell.js';
import { Unsupported } from '../../../src/sandbox/errors.js';
import { quote } from '../../../src/sandbox/quote.js';

const NONCE = 'f00dfacef00dfacef00dfacef00dface';
const AWKWARD = ['', ' ', "it's", '"', '$HOME `id` $(id)', '\\', 'a\nb\n', '\n', '*', '-n', 'ünï 🎲', '\t', "'\\''", '!x', '\r', NONCE];
const has = (...shell: string[]): boolean => spawnSync(shell[0]!, [...shell.slice(1), '-c', 'exit 0']).status === 0;
/** What /bin/sh is in Debian, Fedora and Alpine, as far as it is here. */
const SHELLS = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter((shell) => has(...shell));

async function run(shell: readonly string[], command: Partial<Command> & Pick<Command, 'argv'>, input = ''): Promise<{ stdout: string; stderr: string }> {
  const whole = { env: {}, stdin: false, cookie: 'c00kie', ...command };
  const child = spawn(shell[0]!, [...shell.slice(1), '-c', whole.lasting ? LASTING_WRAPPER : WRAPPER, 'sh', ...whole.argv], { stdio: 'pipe' });
  child.stdin.on('error', () => undefined);
  child.stdin.end(framed(preparation(whole), NONCE) + input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

describe('docker shell', function () {
  before('there is a shell', () => assert.notEqual(SHELLS.length, 0));

  for (const shell of SHELLS) {
    describe(shell.join(' '), () => {
      it('sets variables to exactly their values, and passes arguments on', async () => {
        const values = AWKWARD.filter((value) => value !== NONCE);
        const env = Object.fromEntries(values.map((value, index) => [`V${index}`, value]));
        const names = values.map((_, index) => `"$V${index}"`).join(' ');
        const { stdout } = await run(shell, { argv: ['sh', '-c', `printf '%s|' ${names} "$@"`, 'sh', ...AWKWARD], env });
        assert.equal(stdout, `${[...values, ...AWKWARD].map((value) => `${value}|`).join('')}${NONCE} 0 \n`);
      });

      it('leaves the command the rest of the input, to the byte', async () => {
        assert.equal((await run(shell, { argv: ['cat'], stdin: true }, 'first\nsecond')).stdout, `first\nsecond${NONCE} 0 \n`);
        assert.equal((await run(shell, { argv: ['cat'] }, 'not for it')).stdout, `${NONCE} 0 \n`);
      });

      for (const lasting of [false, true]) it(`reports every end on both streams, and adds nothing of its own${lasting ? ', of a command that lasts' : ''}`, async () => {
        for (const [script, code] of [['exit 0', 0], ['exit 7', 7], ['kill -9 $$', 137], ['kill -TERM $$', 143], ['exec no-such-program-here 2>/dev/null', 127]] as const) {
          const { stdout, stderr } = await run(shell, { argv: ['sh', '-c', script], lasting });
          assert.equal(stdout.split(' ').slice(0, 2).join(' '), `${NONCE} ${code}`, script);
          assert.equal(stderr, stdout, script);
        }
        const missing = await run(shell, { argv: ['true'], cwd: '/no/such/folder', lasting });
        assert.match(missing.stdout, new RegExp(`^${NONCE} 126 `));
        assert.match(missing.stderr, /no\/such\/folder/);
      });

      it('a command that lasts is none of its children, and goes on when nobody reads it', async () => {
        const whole = { env: {}, stdin: false, cookie: 'c00kie', argv: ['sh', '-c', 'echo $PPID; echo err >&2; read -r go < "$1"; echo unheard; echo unheard; echo on > "$2"', 'sh', '', ''] };
        const folder = await mkdtemp(join(tmpdir(), 'rl-lasting-'));
        const [go, done] = [join(folder, 'go'), join(folder, 'done')];
        spawnSync('mkfifo', [go, done]);
        whole.argv.splice(-2, 2, go, done);
        const child = spawn(shell[0]!, [...shell.slice(1), '-c', LASTING_WRAPPER, 'sh', ...whole.argv], { stdio: 'pipe' });
        child.stdin.end(framed(preparation(whole), NONCE));
        const [[parent], [error]] = (await Promise.all([once(child.stdout, 'data'), once(child.stderr, 'data')])) as [[Buffer], [Buffer]];
        assert.equal(error.toString(), 'err\n');
        assert.notEqual(Number(parent.toString()), child.pid);
        child.kill('SIGKILL');
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
        if (child.signalCode === null) await once(child, 'exit');
        await writeFile(go, 'go\n');
        assert.equal(await readFile(done, 'utf8'), 'on\n');
        await rm(folder, { recursive: true });
      });

      it('gives the command its folder and its cookie, and no ignored signals', async () => {
        const { stdout } = await run(shell, { argv: ['sh', '-c', 'pwd; echo $RL_SANDBOX_EXEC'], cwd: '/usr/share' });
        assert.equal(stdout, `/usr/share\nc00kie\n${NONCE} 0 \n`);
        for (const lasting of [false, true]) {
          const ignored = await run(shell, { argv: ['grep', 'SigIgn', '/proc/self/status'], lasting });
          const mask = BigInt(`0x${/SigIgn:\s*(\w+)/.exec(ignored.stdout)![1]}`);
          for (const signal of [1, 2, 3, 13, 15]) assert.equal((mask >> BigInt(signal - 1)) & 1n, 0n, `signal ${signal}`);
        }
      });
    });
  }

  it('refuses what cannot be said', () => {
    assert.throws(() => quote('a\0b'), Unsupported);
    assert.throws(() => preparation({ argv: ['x'], env: { 'A; rm -rf /': 'x' }, stdin: false, cookie: 'c' }), Unsupported);
  });
});
