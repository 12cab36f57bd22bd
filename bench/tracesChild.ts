/** Opens the trace that its argument names and prints how long each thing took, as JSON. */
import type { TraceReader } from '../src/trace/model.js';
import { openTrace } from '../src/trace/open.js';
import { timed } from './measure.js';
import type { TraceTimes } from './traces.js';

const SAMPLES = 2000;

async function firstHit(reader: TraceReader, text: string): Promise<void> {
  for await (const _hit of reader.search(text)) return;
  throw new Error(`"${text}" was not found`);
}

async function main(file: string): Promise<void> {
  const began = performance.now();
  const reader = await openTrace(file);
  await reader.summaries(0, 100);
  await reader.step(0);
  const first = performance.now() - began;
  // Searches begin while the file is still being gone through, as a person's do.
  const hitEarly = await timed(() => firstHit(reader, '/DATA/999'));
  const before = process.cpuUsage();
  const hitMiddle = await timed(() => firstHit(reader, 'NEEDLE'));
  const { user, system } = process.cpuUsage(before);
  while ((await reader.head()).end.status !== 'completed') await new Promise((done) => setTimeout(done, 5));
  const steps = performance.now() - began;
  await reader.settled();
  const known = performance.now() - began;
  const count = (await reader.head()).steps;
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) times.push(await timed(() => reader.step(Math.floor(((sample * 7919) % SAMPLES) * (count / SAMPLES)))));
  times.sort((a, b) => a - b);
  const timeline = await timed(() => reader.timeline(500));
  const result: TraceTimes = { first, steps, known, p99: times[Math.floor(SAMPLES * 0.99)]!, worst: times.at(-1)!, hitEarly, hitMiddle, hitMiddleCpu: (user + system) / 1000, timeline, peak: process.resourceUsage().maxRSS * 1024 };
  console.log(JSON.stringify(result));
  await reader.close();
}

void main(process.argv[2]!);
