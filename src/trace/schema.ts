/**
 * The native trace, in one place: the types of `events.ts` and `schemas/trace.schema.json` both come from here. `trace.jsonl` has one event a
 * line, appended as it happens. The first line is a `start`, the last an `end`; without an `end` the episode is going on or its process died.
 * A step holds the Gymnasium five, as in https://gymnasium.farama.org/api/env/ (`step`). Times are milliseconds since the epoch, durations
 * milliseconds, sizes bytes, money US dollars. All text comes from sandboxes and models: hostile.
 */
import * as z from 'zod';

const at = z.number().describe('When, in milliseconds since the epoch.');
const ms = z.number().describe('How long, in milliseconds.');
const count = z.int().min(0);

export const storedBlob = z
  .strictObject({
    $blob: z.literal(true).describe('Tells a value that lies in a file of its own from any other object.'),
    blob: z.string().regex(/^[0-9a-f]{64}$/).describe('SHA-256 of the content, and the name of its file in `blobs/` beside the trace.'),
    mediaType: z.string().describe('`text/plain`, `application/json`, `image/png`.'),
    bytes: count,
    head: z.string().optional().describe('Of a text: how it begins.'),
  })
  .describe('In place of a big value or an image.');

/** Any JSON: `z.json()` would be written into the JSON Schema once for each use. */
export type Content = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };
const json = z.unknown() as unknown as z.ZodType<Content>;
const content = json.describe('A text or a JSON value. One that is big is a blob: an object with `$blob: true`.');

const tokens = z
  .strictObject({
    prompt: count.optional().describe('Tokens of the prompt, those from a cache included.'),
    completion: count.optional(),
    cached: count.optional(),
  })
  .describe('Tokens of model calls.');

const call = z.strictObject({ id: z.string(), name: z.string(), arguments: content.describe('Parsed, or the text itself where it is no JSON.') });

export const action = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }).describe('Nothing: a reset, a policy that does nothing.'),
    z.strictObject({ kind: z.literal('value'), value: content }).describe('An element of the action space.'),
    z.strictObject({ kind: z.literal('command'), command: content, language: z.enum(['sh', 'python']) }).describe('What a shell or Python ran.'),
    z
      .strictObject({ kind: z.literal('calls'), text: content.optional(), reasoning: content.optional(), calls: z.array(call) })
      .describe('Tools that a model called, with what it said and thought.'),
  ])
  .describe('What was done.');

const result = {
  stdout: content.describe('What it printed. Of a tool: all that the model was told, but for the exit code, the error and the gap.'),
  stderr: content.optional(),
  exitCode: z.int().optional(),
  dropped: count.optional().describe('Bytes left out between the head and the tail of `stdout`.'),
  droppedAt: count.optional().describe('Where in `stdout` they are missing, in UTF-16 units.'),
};

export const observation = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('value'), value: content }),
    z.strictObject({ kind: z.literal('command'), ...result }),
    z.strictObject({
      kind: z.literal('results'),
      results: z.array(z.strictObject({ call: z.string(), ms, error: z.string().optional(), ...result })).describe("In the order of the action's calls."),
    }),
  ])
  .describe('What was seen.');

const fileChange = z.strictObject({
  path: z.string(),
  change: z.enum(['added', 'modified', 'removed']),
  added: count.optional().describe('Lines.'),
  removed: count.optional().describe('Lines.'),
  diff: z.string().optional().describe('Unified.'),
});

const ranges = z.array(z.tuple([count, count]));

export const startEvent = z
  .strictObject({
    type: z.literal('start'),
    version: z.literal(1),
    at,
    run: z.string().optional(),
    episode: count,
    seed: count,
    sample: count,
    attempt: z.int().min(1).describe('From 1. An attempt that the machinery broke is followed by another one, whose trace takes the place of its own.'),
    template: z.string(),
    provider: z.string(),
    snapshot: z.string().optional(),
    policy: z.looseObject({ name: z.string(), model: z.string().optional() }).describe('Name and settings of the policy.'),
    tools: z.array(json).optional().describe("Tools that the model may call, as OpenAI's function schema."),
  })
  .describe('The first line: what is recorded.');

export const messageEvent = z
  .strictObject({ type: z.literal('message'), at, role: z.enum(['system', 'user']), content })
  .describe(
    'Something said outside a step: the prompts. Messages are numbered from 0 in the order of the file: each `message` is one, each `model` with a reply is one, each result in the observation of a `step` is one.',
  );

export const modelEvent = z
  .strictObject({
    type: z.literal('model'),
    at,
    ms,
    step: count.describe('The step that it decided.'),
    url: z.string(),
    model: z.string(),
    context: ranges.describe('Which messages it was sent, as ranges `[from, to)`, so that no message is written twice.'),
    elided: ranges.optional().describe('Those among them whose text was replaced by a marker, to make room.'),
    parameters: z.record(z.string(), json).describe('Parameters of the request besides messages and tools.'),
    reply: content.optional().describe('The reply as a chat message; absent if the call failed.'),
    finishReason: z.string().optional(),
    tokens: tokens.optional(),
    cost: z.number().optional(),
    attempt: z.int().min(1),
    error: z.string().optional(),
  })
  .describe('A call of a model, also one that failed and was tried again.');

export const beginEvent = z
  .strictObject({ type: z.literal('begin'), at, step: count, action })
  .describe('A step that has begun, so that who watches sees what is being done. Written only if the step takes long; its `step` follows, unless the process died.');

export const stepEvent = z
  .strictObject({
    type: z.literal('step'),
    at: at.describe('When it began.'),
    ms,
    step: count.describe('From 1, without gaps; a reset is step 0, with the action `none`.'),
    lane: count.optional().describe('Which one of a vector of environments; each of them has steps of its own, numbered by `step` from 1.'),
    action,
    observation,
    reward: z.number().nullable().describe('`null` where the environment gives none for a step.'),
    terminated: z.boolean(),
    truncated: z.boolean(),
    info: content.optional(),
    spaces: z.strictObject({ action: json, observation: json }).optional().describe('Of a reset: both spaces of the environment.'),
    tokens: tokens.optional(),
    cost: z.number().optional(),
    files: z.array(fileChange).optional(),
    frames: z.array(storedBlob).optional().describe('What `render()` gave: images, or texts.'),
    error: z.string().optional().describe('What went wrong, in a few words. A command that exits with another code than 0 is no error.'),
  })
  .describe('A step.');

export const rewardEvent = z
  .strictObject({
    type: z.literal('reward'),
    at,
    ms,
    reward: z.number().nullable(),
    components: z.array(z.strictObject({ name: z.string(), weight: z.number(), value: z.number().nullable(), detail: z.string().optional() })),
    problem: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    output: content.optional().describe('What the verifiers printed.'),
  })
  .describe("The verifier's word, once the episode is scored.");

export const noteEvent = z
  .strictObject({
    type: z.literal('note'),
    at,
    level: z.enum(['info', 'warning', 'error']),
    what: z.string().describe('Name of the kind, such as `retry`, `context`, `full`, `difference`.'),
    message: z.string(),
    step: count.optional(),
  })
  .describe('Something of note that is no step: an earlier attempt, room made in the context, a difference in a replay.');

export const networkEvent = z
  .strictObject({
    type: z.literal('network'),
    at,
    host: z.string().describe('A name or an address, as the program wrote it.'),
    port: z.int().min(1).max(65_535),
    refused: z.string().optional().describe('Why it was refused, as the end of a sentence whose subject is the host; absent if it was allowed.'),
  })
  .describe('A request that left the sandbox through its proxy, where `network` allows certain hosts: each refused one, and the first allowed one of each host and port. Of either kind 500 at most; a note `network` counts the rest.');

export const endEvent = z
  .strictObject({
    type: z.literal('end'),
    at,
    status: z.enum(['completed', 'truncated', 'error', 'cancelled']),
    cause: z.string().optional().describe('`<code>: <sentence>`.'),
    steps: count,
    reward: z.number().nullable(),
  })
  .describe('The last line: how it ended.');

export const traceEvent = z.discriminatedUnion('type', [startEvent, messageEvent, modelEvent, beginEvent, stepEvent, rewardEvent, noteEvent, networkEvent, endEvent]);

/** JSON Schema (draft 7) of one line. */
export function traceJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(traceEvent, { target: 'draft-7', io: 'input', reused: 'inline' });
  return { $schema, $id: 'trace.schema.json', title: 'RL Sandboxes trace: one line of trace.jsonl', ...schema };
}
