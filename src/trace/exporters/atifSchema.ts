/**
 * ATIF 1.7 and Harbor's trial result, as strictly as Harbor reads them (unknown keys are refused):
 * https://github.com/harbor-framework/harbor, rfcs/0001-trajectory-format.md and src/harbor/models/.
 */
import * as z from 'zod';

const extra = z.record(z.string(), z.unknown());
const count = z.int().min(0);

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), source: z.strictObject({ media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']), path: z.string() }) }),
]);
const content = z.union([z.string(), z.array(contentPart)]);

const toolCall = z.strictObject({ tool_call_id: z.string(), function_name: z.string(), arguments: z.record(z.string(), z.unknown()), extra: extra.optional() });

const observation = z.strictObject({ results: z.array(z.strictObject({ source_call_id: z.string().nullable().optional(), content: content.nullable().optional(), extra: extra.optional() })) });

const metrics = z.strictObject({ prompt_tokens: count.optional(), completion_tokens: count.optional(), cached_tokens: count.optional(), cost_usd: z.number().min(0).optional(), extra: extra.optional() });

export const atifStep = z
  .strictObject({
    step_id: z.int().min(1),
    timestamp: z.iso.datetime().optional(),
    source: z.enum(['system', 'user', 'agent']),
    message: content,
    model_name: z.string().optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    metrics: metrics.optional(),
    observation: observation.optional(),
    extra: extra.optional(),
  })
  .refine((step) => step.source === 'agent' || (!step.model_name && !step.reasoning_content && !step.tool_calls && !step.metrics), 'only steps of an agent have a model, reasoning, calls and metrics');

export const atifRoot = z.strictObject({
  schema_version: z.literal('ATIF-v1.7'),
  session_id: z.string(),
  trajectory_id: z.string(),
  agent: z.strictObject({ name: z.string().min(1), version: z.string().min(1), model_name: z.string().optional(), tool_definitions: z.array(z.unknown()).optional(), extra: extra.optional() }),
  steps: z.array(atifStep).min(1),
  final_metrics: z
    .strictObject({ total_prompt_tokens: count.optional(), total_completion_tokens: count.optional(), total_cached_tokens: count.optional(), total_cost_usd: z.number().min(0).optional(), total_steps: count, extra: extra.optional() })
    .optional(),
  extra: extra.optional(),
});

export type AtifStep = z.output<typeof atifStep>;
export type AtifRoot = z.output<typeof atifRoot>;

const span = z.strictObject({ started_at: z.iso.datetime(), finished_at: z.iso.datetime() }).nullable();

export const trialResult = z.strictObject({
  id: z.uuid(),
  task_name: z.string(),
  trial_name: z.string(),
  trial_uri: z.string(),
  task_id: z.strictObject({ path: z.string() }),
  source: z.string().nullable(),
  task_checksum: z.string(),
  config: z.record(z.string(), z.unknown()),
  agent_info: z.strictObject({ name: z.string(), version: z.string(), model_info: z.strictObject({ name: z.string(), provider: z.string() }).nullable() }),
  agent_result: z.strictObject({ n_input_tokens: count.nullable(), n_cache_tokens: count.nullable(), n_output_tokens: count.nullable(), cost_usd: z.number().nullable(), rollout_details: z.null(), metadata: z.record(z.string(), z.unknown()).nullable() }).nullable(),
  verifier_result: z.strictObject({ rewards: z.record(z.string(), z.number()) }).nullable(),
  exception_info: z.strictObject({ exception_type: z.string(), exception_message: z.string(), exception_traceback: z.string(), occurred_at: z.iso.datetime() }).nullable(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  environment_setup: span,
  agent_setup: span,
  agent_execution: span,
  verifier: span,
  step_results: z.null(),
});
export type TrialResult = z.output<typeof trialResult>;
