/** Native traces of any length, written as the recorder writes them. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { TraceEvent } from '../../../src/trace/events.js';

export const AT = 1_700_000_000_000;

export const start = (more: Partial<Extract<TraceEvent, { type: 'start' }>> = {}): TraceEvent => ({
  type: 'start', version: 1, at: AT, episode: 3, seed: 17, sample: 0, attempt: 1, template: 'hello', provider: 'bubblewrap', policy: { name: 'llm', model: 'tiny' }, ...more,
});

export const step = (number: number, more: Partial<Extract<TraceEvent, { type: 'step' }>> = {}): TraceEvent => ({
  type: 'step', at: AT + number * 10, ms: 5, step: number, action: { kind: 'value', value: number % 4 }, observation: { kind: 'value', value: [number, 0.5] },
  reward: 0, terminated: false, truncated: false, ...more,
});

export const end = (steps: number, reward: number | null = 1): TraceEvent => ({ type: 'end', at: AT + steps * 10 + 10, status: 'completed', steps, reward });

export const lines = (events: readonly TraceEvent[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** A trace of so many steps, each a shell command with about a kilobyte of output; `hit` is a word that one step alone has. */
export async function writeLong(file: string, steps: number, { hit = 'needle', at = Math.floor(steps / 2) } = {}): Promise<void> {
  const output = createWriteStream(file);
  const filler = 'drwxr-xr-x 2 user user 4096 Jan  1 00:00 folder\n'.repeat(14);
  let batch = lines([start()]);
  for (let number = 0; number < steps; number += 1) {
    const command = number === at ? `grep ${hit} notes.txt` : `ls -la /data/${number}`;
    batch += lines([step(number, { action: { kind: 'command', command, language: 'sh' }, observation: { kind: 'command', stdout: `${number}\n${filler}`, exitCode: 0 }, info: { step: number } })]);
    if (batch.length > 1 << 20) {
      if (!output.write(batch)) await once(output, 'drain');
      batch = '';
    }
  }
  output.end(batch + lines([end(steps)]));
  await once(output, 'finish');
}
