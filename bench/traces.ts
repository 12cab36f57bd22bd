/** Reading a native trace of a million steps, about 1 GB, in a process of its own: memory is that of the reader alone. */
import { spawn } from 'node:child_process';
import { mkdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { writeLong } from '../test/support/traces/native.js';
import { ms, type Figure } from './measure.js';

const STEPS = 1_000_000;
const BYTES_A_STEP = 1000;

export interface TraceTimes {
  readonly first: number;
  readonly steps: number;
  readonly known: number;
  readonly p99: number;
  readonly worst: number;
  readonly hitEarly: number;
  readonly hitMiddle: number;
  /** Processor time of the whole process meanwhile, which other programs hardly change. */
  readonly hitMiddleCpu: number;
  readonly timeline: number;
  readonly peak: number;
}

export async function traces(root: string, steps = STEPS): Promise<Figure[]> {
  const what = `trace of ${steps} steps`;
  const disk = await statfs(root);
  if (disk.bavail * disk.bsize < steps * BYTES_A_STEP * 2) return [{ what: `${what}: not measured, the disk is short`, ours: '', floor: '', ratio: '', target: '', met: undefined }];
  const folder = join(root, 'trace');
  await mkdir(folder);
  const file = join(folder, 'trace.jsonl');
  try {
    await writeLong(file, steps);
    const size = (await stat(file)).size;
    const times = await measureApart(file);
    const figure = (name: string, ours: string, target = '', met?: boolean): Figure => ({ what: `${what} (${(size / 1e9).toFixed(2)} GB): ${name}`, ours, floor: '', ratio: '', target, met });
    return [
      figure('opened, first 100 rows and first step', ms(times.first), '< 1 s', times.first < 1000),
      figure('every step found / errors and rewards known', `${ms(times.steps)} / ${ms(times.known)}`),
      figure('any step, p99 / worst of 2000', `${ms(times.p99)} / ${ms(times.worst)}`, '< 50 ms', times.p99 < 50),
      figure('first hit of a search, a word of the first 1000 steps / of the middle', `${ms(times.hitEarly)} / ${ms(times.hitMiddle)} (processor: ${ms(times.hitMiddleCpu)})`, '< 1 s', Math.max(times.hitEarly, times.hitMiddle) < 1000),
      figure('timeline of 500 bins', ms(times.timeline)),
      figure('peak memory of the process', `${(times.peak / 1e6).toFixed(0)} MB`),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function measureApart(file: string): Promise<TraceTimes> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'tracesChild.ts'), file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(JSON.parse(output) as TraceTimes) : reject(new Error(`the reader ended with exit code ${String(code)}`))));
  });
}
