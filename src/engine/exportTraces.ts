/** Traces of a run's finished episodes: in Harbor's job layout, as chat messages, or as they are. */
import { cp, mkdir, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Layout } from '../store/layout.js';
import type { EpisodeRecord, RunRecord } from '../store/records.js';
import { writeAtif } from '../trace/exporters/atif.js';
import { chatMessages } from '../trace/exporters/chat.js';
import { JobSummary, trialName, writeTrial } from '../trace/exporters/harbor.js';
import type { TraceHead, TraceReader } from '../trace/model.js';
import { openTrace } from '../trace/open.js';
import { isRecord } from '../trace/text.js';
import { BLOBS_FOLDER, TRACE_FILE } from '../trace/writer.js';
import { VERSION } from './version.js';

export interface TraceExport {
  readonly episodes: number;
  /** Episodes whose trace is not there or cannot be read, each with why. */
  readonly left: readonly { readonly episode: number; readonly why: string }[];
}

type Each = (record: EpisodeRecord, reader: TraceReader, head: TraceHead) => Promise<void>;

async function eachTrace(layout: Layout, run: RunRecord, records: readonly EpisodeRecord[], each: Each, signal?: AbortSignal): Promise<TraceExport> {
  const left: { episode: number; why: string }[] = [];
  let episodes = 0;
  for (const record of records) {
    signal?.throwIfAborted();
    let reader: TraceReader | undefined;
    try {
      reader = await openTrace(join(layout.episode(run.id, record.episode), TRACE_FILE), { signal });
      await reader.settled(signal);
      await each(record, reader, await reader.head());
      episodes += 1;
    } catch (error) {
      signal?.throwIfAborted();
      if (['ENOSPC', 'EACCES', 'EROFS', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' && !reader;
      left.push({ episode: record.episode, why: missing ? 'it has no trace' : error instanceof Error ? error.message : String(error) });
    } finally {
      await reader?.close();
    }
  }
  return { episodes, left };
}

const toolsOf = (head: TraceHead): readonly unknown[] | undefined => (isRecord(head.extra) && Array.isArray(head.extra.tools) ? head.extra.tools : undefined);

/** `folder` becomes a Harbor job. */
export async function exportAtif(layout: Layout, run: RunRecord, records: readonly EpisodeRecord[], folder: string, signal?: AbortSignal): Promise<TraceExport> {
  let job: JobSummary | undefined;
  const summary = (model?: string): JobSummary => (job ??= new JobSummary({ id: run.id, name: run.id, agent: run.policy, model, dataset: run.template, samples: run.samples, concurrency: run.concurrency }));
  const result = await eachTrace(
    layout,
    run,
    records,
    async (record, reader, head) => {
      const { episode, seed, sample, cause, status, startedAt, timings, reward, components } = record;
      const [code, ...rest] = (cause ?? status).split(': ');
      const trial = {
        run: run.id, task: run.template, episode, agent: head.agent ?? run.policy, version: VERSION, model: head.model, startedAt, timings, reward, components, tokens: head.tokens, cost: head.cost,
        ...(status !== 'completed' && { failure: { code: code!, message: rest.join(': ') } }),
        metadata: { seed, sample, status, attempts: record.attempts, steps: record.steps },
      };
      summary(head.model).add(await writeTrial(folder, trial));
      await writeAtif(reader, join(folder, trialName(trial), 'agent'), { id: `${run.id}-${episode}`, version: VERSION, tools: toolsOf(head), signal });
    },
    signal,
  );
  await summary().write(folder);
  return result;
}

/** A line for each episode: `messages`, `tools` where a model had them, and what came of it. */
export async function exportChat(layout: Layout, run: RunRecord, records: readonly EpisodeRecord[], output: Writable, signal?: AbortSignal): Promise<TraceExport> {
  return eachTrace(
    layout,
    run,
    records,
    async ({ episode, seed, sample, status, reward }, reader, head) => {
      const tools = toolsOf(head);
      const line = { messages: await chatMessages(reader, signal), ...(tools?.length && { tools }), ...(head.model !== undefined && { model: head.model }), reward, id: `${run.id}-${episode}`, metadata: { run: run.id, episode, seed, sample, status } };
      if (!output.write(`${JSON.stringify(line)}\n`)) await once(output, 'drain', { signal });
    },
    signal,
  );
}

/** `folder` gets `run.json`, `episodes.jsonl` with the lines chosen, and each episode's trace with its blobs. */
export async function exportNative(layout: Layout, run: RunRecord, records: readonly EpisodeRecord[], folder: string, signal?: AbortSignal): Promise<TraceExport> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'run.json'), `${JSON.stringify(run, null, 2)}\n`);
  await writeFile(join(folder, 'episodes.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return eachTrace(
    layout,
    run,
    records,
    async ({ episode }) => {
      const [from, to] = [layout.episode(run.id, episode), join(folder, 'episodes', String(episode))];
      for (const name of [TRACE_FILE, BLOBS_FOLDER]) if (await stat(join(from, name)).catch(() => undefined)) await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    },
    signal,
  );
}
