/** GPUs among real processes, on a stand-in inventory. */
import { strict as assert } from 'node:assert';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GpuLedger } from '../../../src/rollout/gpuLedger.js';
import { GpuPool } from '../../../src/rollout/gpuPool.js';
import { currentOwner } from '../../../src/sandbox/owner.js';
import type { GpuDevice } from '../../../src/sandbox/provider.js';

const USER = fileURLToPath(new URL('gpuUser.ts', import.meta.url));
const TWO = [0, 1].map((number): GpuDevice => ({ via: 'nvidia', id: `GPU-${number}`, names: [String(number)] }));

describe('GPUs among processes', function () {
  this.timeout(60_000);
  let folder: string;
  let log: string;
  const children = new Set<ChildProcess>();
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rl-gpus-'));
    log = join(folder, 'log');
    await writeFile(log, '');
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
    await rm(folder, { recursive: true, force: true });
  });

  const pool = (): GpuPool => new GpuPool(new GpuLedger(() => Promise.resolve(join(folder, 'gpus'))));
  const user = (rounds: number): ChildProcess => {
    const child = spawn(process.execPath, ['--import', 'tsx', USER, join(folder, 'gpus'), log, String(rounds)], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    return child;
  };

  /** What the processes have agreed on. */
  const book = async (): Promise<string> => {
    const names = (await readdir(join(folder, 'gpus')).catch(() => [])).filter((name) => name.startsWith('gpus.'));
    return names[0] === undefined ? '' : readFile(join(folder, 'gpus', names[0]), 'utf8').catch(() => '');
  };

  it('none is used by two at once, and all come to their turn', async () => {
    const ends = await Promise.all([user(4), user(4)].map((child) => once(child, 'exit')));
    assert.deepEqual(ends, [[0, null], [0, null]]);
    const busy = new Set<string>();
    const lines = (await readFile(log, 'utf8')).trim().split('\n');
    assert.equal(lines.length, 2 * 2 * 2 * 4);
    for (const line of lines) {
      const id = line.slice(1);
      assert.equal(busy.has(id), line.startsWith('-'), `${line} of ${lines.join(' ')}`);
      if (line.startsWith('+')) busy.add(id);
      else busy.delete(id);
    }
    assert.equal((await readdir(join(folder, 'gpus'))).length, 1, 'no more than the last state is kept');
  });

  it('one process that wants both is not passed over by another, and what it used is free when it was killed', async () => {
    const mine = pool();
    const ask = () => mine.acquire([{ request: { count: 1 }, inventory: TWO }]);
    const first = await ask();
    const child = user(0);
    const served = once(child.stdout!, 'data');
    while (!(await book()).includes('"ticket":')) await new Promise((resolve) => setTimeout(resolve, 20));
    const order: string[] = [];
    const second = ask().then((lease) => (order.push('second'), lease));
    const both = served.then(() => order.push('both'));
    first.release();
    await both;
    assert.deepEqual(order, ['both']);
    child.kill('SIGKILL');
    (await second).release();
    while ((await book()) !== '{}') await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it('what a process was writing when it died is gone with the next use, and what one that lives is writing stays', async () => {
    await mkdir(join(folder, 'gpus'));
    const mine = `draft.${(await currentOwner()).replaceAll(':', '_')}.01234567`;
    for (const draft of [`draft.${process.pid}_1_of-another-boot.89abcdef`, mine]) await writeFile(join(folder, 'gpus', draft), '');
    (await pool().acquire([{ request: { count: 1 }, inventory: TWO }])).release();
    assert.deepEqual((await readdir(join(folder, 'gpus'))).filter((name) => name.startsWith('draft.')), [mine]);
  });

  it('a folder that cannot be used is said, and nobody waits', async () => {
    const broken = new GpuPool(new GpuLedger(() => Promise.resolve(log)));
    await assert.rejects(broken.acquire([{ request: { count: 1 }, inventory: TWO }]), { name: 'SandboxError', message: /cannot be shared out/ });
  });
});
