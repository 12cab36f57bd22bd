/** A process of its own that uses two stand-in GPUs with others: `gpuUser.ts FOLDER LOG ROUNDS`. It appends `+ID` and `-ID` to the log; after its rounds it says `done`; with none it takes both and stays. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { GpuLedger } from '../../../src/rollout/gpuLedger.js';
import { GpuPool } from '../../../src/rollout/gpuPool.js';
import type { GpuDevice } from '../../../src/sandbox/provider.js';

const TWO = [0, 1].map((number): GpuDevice => ({ via: 'nvidia', id: `GPU-${number}`, names: [String(number)] }));

async function main(folder: string, log: string, rounds: number): Promise<void> {
  const pool = new GpuPool(new GpuLedger(() => Promise.resolve(folder)));
  const user = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const lease = await pool.acquire([{ request: { count: 1 }, inventory: TWO }]);
      const [{ id }] = lease.devices[0] as [GpuDevice];
      await appendFile(log, `+${id}\n`);
      await pause(5);
      await appendFile(log, `-${id}\n`);
      lease.release();
    }
  };
  await Promise.all([user(), user()]);
  if (rounds === 0) {
    await pool.acquire([{ request: { count: 2 }, inventory: TWO }]);
    setInterval(() => undefined, 60_000);
  }
  console.log('done');
}

const [folder, log, rounds] = process.argv.slice(2) as [string, string, string];
void main(folder, log, Number(rounds));
