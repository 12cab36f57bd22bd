/** A trace as an ATIF 1.7 document: `trajectory.json` in a folder, images beside it. Written step by step. */
import { createHash } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobRef, Part, StepDetail, TraceHead, TraceReader } from '../model.js';
import { isRecord, wellFormed } from '../text.js';
import { atifRoot, atifStep, type AtifStep } from './atifSchema.js';
import { partsText, partText } from './parts.js';

const IMAGES: Record<string, string> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp' };
const WINDOW = 100;

export interface AtifOptions {
  readonly id: string;
  /** Of the program that recorded the trace, where the trace itself names none. */
  readonly version: string;
  readonly tools?: readonly unknown[];
  readonly signal?: AbortSignal;
}

type Content = AtifStep['message'];

/** Writes the document; returns how many steps it has. None: then no file is left, since ATIF has no document without steps. */
export async function writeAtif(reader: TraceReader, folder: string, { id, version, tools, signal }: AtifOptions): Promise<number> {
  await reader.settled(signal);
  const head = await reader.head();
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'trajectory.json');
  const handle = await open(file, 'w');
  let written = 0;
  try {
    const { steps: _, final_metrics: metrics, ...root } = atifRoot.parse({ ...rootOf(head, id, version, tools), steps: [{ step_id: 1, source: 'user', message: '' }] });
    const opening = JSON.stringify(root);
    await handle.writeFile(`${opening.slice(0, -1)},"steps":[`);
    for (let index = 0; index < head.steps; index += 1) {
      signal?.throwIfAborted();
      const step = await stepOf(await reader.step(index, signal), written + 1, reader, folder);
      if (!step) continue;
      await handle.writeFile(`${written ? ',' : ''}\n${JSON.stringify(atifStep.parse(step))}`);
      written += 1;
      if (index % WINDOW === 0) await new Promise((done) => setImmediate(done));
    }
    await handle.writeFile(`\n],"final_metrics":${JSON.stringify({ ...metrics, total_steps: written })}}\n`);
  } finally {
    await handle.close();
    if (!written) await rm(file, { force: true });
  }
  return written;
}

function rootOf(head: TraceHead, id: string, version: string, tools: readonly unknown[] | undefined): object {
  const { tokens, cost } = head;
  return {
    schema_version: 'ATIF-v1.7',
    session_id: id,
    trajectory_id: id,
    agent: { name: head.agent || 'unknown', version, ...(head.model !== undefined && { model_name: head.model }), ...(tools?.length && { tool_definitions: tools }) },
    final_metrics: {
      ...(tokens?.prompt !== undefined && { total_prompt_tokens: tokens.prompt }),
      ...(tokens?.completion !== undefined && { total_completion_tokens: tokens.completion }),
      ...(tokens?.cached !== undefined && { total_cached_tokens: tokens.cached }),
      ...(cost !== undefined && { total_cost_usd: cost }),
      total_steps: 0,
    },
    extra: { title: head.title, ...(head.task !== undefined && { task: head.task }), ...(head.seed !== undefined && { seed: head.seed }), ...(head.sample !== undefined && { sample: head.sample }), end: head.end },
  };
}

/** A verifier's word is no step of ATIF: it stands beside the document. */
async function stepOf(step: StepDetail, number: number, reader: TraceReader, folder: string): Promise<AtifStep | undefined> {
  if (step.source === 'verifier') return undefined;
  const source = step.source === 'environment' ? 'system' : step.source;
  const content = (parts: readonly Part[] | undefined): Promise<Content> => contentOf(parts, reader, folder);
  const base = {
    step_id: number,
    ...(step.at !== undefined && { timestamp: new Date(step.at).toISOString() }),
    extra: extraOf(step),
  };
  const frames = await Promise.all((step.frames ?? []).map((frame) => imagePart(frame, reader, folder)));
  const seen = [...asParts(await content(step.observation)), ...frames.filter((part) => part !== undefined)];
  const observed = seen.length === 1 && seen[0]!.type === 'text' ? seen[0]!.text : seen;
  if (source !== 'agent') {
    const message = step.message?.length ? await content(step.message) : step.kind === 'message' ? '' : step.title;
    return { ...base, source, message, ...(seen.length && { observation: { results: [{ content: observed }] } }) };
  }
  const calls: NonNullable<AtifStep['tool_calls']> = [];
  const results: NonNullable<AtifStep['observation']>['results'] = [];
  for (const [index, call] of (step.calls ?? []).entries()) {
    const id = call.id ?? `call_${number}_${index + 1}`;
    const facts = { ...(call.exitCode !== undefined && { exit_code: call.exitCode }), ...(call.ms !== undefined && { duration_ms: call.ms }), ...(call.error !== undefined && { error: call.error }) };
    calls.push({ tool_call_id: id, function_name: call.name, arguments: isRecord(call.arguments) ? call.arguments : { arguments: call.arguments ?? null } });
    if (call.result.length || Object.keys(facts).length) results.push({ source_call_id: id, content: await content(call.result), ...(Object.keys(facts).length && { extra: facts }) });
  }
  const acted = await actionCall(step, number, reader);
  if (acted) calls.push(acted);
  if (seen.length) results.push({ ...(acted && { source_call_id: acted.tool_call_id }), content: observed });
  const reasoning = await partsText(step.reasoning, reader);
  const { prompt, completion, cached } = step.tokens ?? {};
  const metrics = { ...(prompt !== undefined && { prompt_tokens: prompt }), ...(completion !== undefined && { completion_tokens: completion }), ...(cached !== undefined && { cached_tokens: cached }), ...(step.cost !== undefined && { cost_usd: step.cost }) };
  return {
    ...base,
    source,
    message: await content(step.message),
    ...(step.model?.model && { model_name: step.model.model }),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length && { tool_calls: calls }),
    ...(Object.keys(metrics).length && { metrics }),
    ...(results.length && { observation: { results } }),
  };
}

/** An action that is no tool call, as the call that it amounts to: `bash`, `python`, or `step` of an environment. */
async function actionCall(step: StepDetail, number: number, reader: TraceReader): Promise<NonNullable<AtifStep['tool_calls']>[number] | undefined> {
  const [part] = step.action ?? [];
  if (!part) return undefined;
  const id = `call_${number}`;
  if (part.type === 'json') return { tool_call_id: id, function_name: 'step', arguments: { action: part.value } };
  const text = await partsText(step.action, reader);
  const python = part.type === 'code' && part.language === 'python';
  return { tool_call_id: id, function_name: python ? 'python' : 'bash', arguments: python ? { code: text } : { command: text } };
}

function extraOf({ reward, terminated, truncated, error, files, ms, depth, info, pending }: StepDetail): Record<string, unknown> {
  const known = { reward, terminated, truncated, error, files, duration_ms: ms, depth, info, unfinished: pending };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

const asParts = (content: Content): Exclude<Content, string> => (typeof content === 'string' ? (content ? [{ type: 'text', text: content }] : []) : content);

async function contentOf(parts: readonly Part[] | undefined, reader: TraceReader, folder: string): Promise<Content> {
  const result: Exclude<Content, string> = [];
  for (const part of parts ?? []) {
    const image = part.type === 'image' ? await imagePart(part.image, reader, folder) : undefined;
    const text = image ? '' : wellFormed(await partText(part, reader));
    if (image) result.push(image);
    else if (text) result.push({ type: 'text', text });
  }
  return result.some(({ type }) => type === 'image') ? result : result.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

/** A file in `images/`, named by its content; a frame that is no image of a kind that ATIF knows is left out. */
async function imagePart(image: BlobRef, reader: TraceReader, folder: string): Promise<Exclude<Content, string>[number] | undefined> {
  const ending = IMAGES[image.mediaType];
  if (!ending) return undefined;
  const data = await reader.blob(image.blob).catch(() => undefined);
  if (!data) return undefined;
  const name = `${createHash('sha256').update(data).digest('hex')}.${ending}`;
  await mkdir(join(folder, 'images'), { recursive: true });
  await writeFile(join(folder, 'images', name), data);
  return { type: 'image', source: { media_type: image.mediaType as 'image/png', path: `images/${name}` } };
}
