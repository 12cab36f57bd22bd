/** Events of a native trace as steps of the model. */
import type { Action, BeginEvent, CommandResult, Content, MessageEvent, ModelEvent, NetworkEvent, NoteEvent, Observation, RewardEvent, StepEvent, StoredBlob } from '../events.js';
import type { BlobRef, Part, StepDetail, ToolCall } from '../model.js';
import { callTitle, compact, isRecord, titleOf } from '../text.js';

/** The events that make up one step. A step that has begun and has no `step` yet is pending. */
export interface StepEvents {
  readonly begin?: BeginEvent;
  readonly step?: StepEvent;
  readonly models: readonly ModelEvent[];
}

export type Described = Omit<StepDetail, 'index'>;

const isBlob = (value: unknown): value is StoredBlob => isRecord(value) && value.$blob === true && typeof value.blob === 'string';
const refOf = ({ blob, mediaType, bytes, head }: StoredBlob): BlobRef => ({ blob, mediaType, bytes, ...(head !== undefined && { head }) });

function partOf(value: Content | undefined, type: 'terminal' | 'text' | 'json', language?: string): Part[] {
  if (value === undefined || value === '') return [];
  if (isBlob(value)) return [/^image\//.test(value.mediaType) ? { type: 'image', image: refOf(value) } : { type: 'long', content: refOf(value) }];
  if (typeof value !== 'string') return [{ type: 'json', value }];
  return [language !== undefined ? { type: 'code', language, text: value } : type === 'json' ? { type: 'text', text: value } : { type, text: value }];
}

const headOf = (value: Content | undefined): string => (isBlob(value) ? (value.head ?? value.mediaType) : value === undefined ? '' : compact(value));

function outputOf({ stdout, stderr, dropped, droppedAt }: CommandResult): Part[] {
  const text: Part[] = typeof stdout === 'string' && dropped ? [{ type: 'terminal', text: stdout, dropped: { bytes: dropped, at: droppedAt ?? stdout.length } }] : partOf(stdout, 'terminal');
  return [...text, ...partOf(stderr, 'terminal')];
}

const failed = (exitCode: number | undefined): string | undefined => (exitCode ? `exit ${exitCode}` : undefined);

export function describeStep({ begin, step, models }: StepEvents): Described {
  const event = (step ?? begin)!;
  const decided = models.at(-1);
  if (!event) return describeModel(models);
  const { action } = event;
  const results = step?.observation.kind === 'results' ? step.observation.results : [];
  const problem = step?.error ?? results.find((result) => result.error)?.error ?? failed(exitOf(step?.observation));
  return {
    label: step?.lane === undefined ? String(event.step) : `${step.lane}:${event.step}`,
    source: action.kind === 'none' ? 'environment' : 'agent',
    kind: step?.error ? 'error' : kindOf(action),
    title: titleOfAction(action, event.step),
    at: step ? step.at : event.at,
    ...(step && step.lane === undefined && { step: event.step }),
    ...(step && { ms: step.ms, reward: step.reward, terminated: step.terminated, truncated: step.truncated }),
    ...(problem !== undefined && { error: titleOf(problem) }),
    ...((step?.tokens ?? decided?.tokens) && { tokens: step?.tokens ?? decided?.tokens }),
    ...((step?.cost ?? decided?.cost) !== undefined && { cost: step?.cost ?? decided?.cost }),
    ...(step?.frames?.length && { image: true, frames: step.frames.map(refOf) }),
    ...(!step && { pending: true }),
    ...(action.kind === 'calls'
      ? { message: partOf(action.text, 'text'), reasoning: partOf(action.reasoning, 'text'), calls: callsOf(action, results) }
      : action.kind === 'none'
        ? {}
        : { action: action.kind === 'command' ? partOf(action.command, 'text', action.language) : partOf(action.value, 'json') }),
    ...(step && { observation: observed(step.observation) }),
    ...((step?.info !== undefined || step?.spaces) && { info: step.spaces ? { info: step.info, spaces: step.spaces } : step.info }),
    ...(step?.files?.length && { files: step.files }),
    ...(decided && { model: modelOf(decided) }),
  };
}

function exitOf(observation: Observation | undefined): number | undefined {
  if (observation?.kind === 'command') return observation.exitCode;
  return observation?.kind === 'results' ? observation.results.find((result) => result.exitCode)?.exitCode : undefined;
}

function observed(observation: Observation): Part[] {
  if (observation.kind === 'value') return partOf(observation.value, 'json');
  return observation.kind === 'command' ? outputOf(observation) : [];
}

function kindOf(action: Action): Described['kind'] {
  return action.kind === 'none' ? 'reset' : action.kind === 'calls' ? (action.calls.length ? 'tool' : 'model') : 'action';
}

function titleOfAction(action: Action, step: number): string {
  switch (action.kind) {
    case 'none':
      return step === 0 ? 'reset' : 'nothing';
    case 'value':
      return titleOf(headOf(action.value));
    case 'command':
      return titleOf(headOf(action.command));
    case 'calls': {
      const [first, ...more] = action.calls;
      if (!first) return titleOf(headOf(action.text) || headOf(action.reasoning));
      return titleOf(callTitle(first.name, isBlob(first.arguments) ? headOf(first.arguments) : first.arguments) + (more.length ? ` (+${more.length})` : ''));
    }
  }
}

function callsOf(action: Action & { kind: 'calls' }, results: readonly ({ call: string; ms: number; error?: string } & CommandResult)[]): ToolCall[] {
  return action.calls.map((call, index) => {
    const result = results.find(({ call: id }) => id === call.id) ?? results[index];
    return {
      id: call.id,
      name: call.name,
      arguments: call.arguments,
      result: result ? outputOf(result) : [],
      ...(result && { ms: result.ms }),
      ...(result?.exitCode !== undefined && { exitCode: result.exitCode }),
      ...(result?.error && { error: titleOf(result.error) }),
    };
  });
}

const modelOf = ({ url, model, parameters, finishReason, attempt }: ModelEvent): StepDetail['model'] => ({
  url,
  model,
  request: { model, ...parameters },
  ...(finishReason !== undefined && { finishReason }),
  ...(attempt > 1 && { attempts: attempt }),
});

/** Calls of a model that no step came of: it is being waited for, or failed. */
function describeModel(models: readonly ModelEvent[]): Described {
  const last = models.at(-1)!;
  return {
    label: String(last.step),
    source: 'agent',
    kind: last.error ? 'error' : 'model',
    title: titleOf(last.error ?? `${last.model} answered`),
    at: last.at,
    ms: last.ms,
    ...(last.error && { error: titleOf(last.error) }),
    ...(last.tokens && { tokens: last.tokens }),
    ...(last.cost !== undefined && { cost: last.cost }),
    ...(last.reply !== undefined && { message: partOf(last.reply, 'text') }),
    pending: true,
    model: modelOf(last),
  };
}

export function describeMessage({ role, content, at }: MessageEvent): Described {
  return { label: role, source: role, kind: 'message', title: titleOf(headOf(content)), at, message: partOf(content, 'text') };
}

export function describeReward({ at, ms, reward, components, problem, output }: RewardEvent): Described {
  return {
    label: 'reward',
    source: 'verifier',
    kind: 'verifier',
    title: titleOf(problem ? problem.message : `reward ${reward}`),
    at,
    ms,
    reward,
    ...(problem && { error: titleOf(problem.code) }),
    components,
    ...(problem && { info: problem }),
    observation: partOf(output, 'terminal'),
  };
}

export function describeNote({ at, level, what, message }: NoteEvent): Described {
  return { label: titleOf(what, 40), source: 'system', kind: level === 'error' ? 'error' : 'message', title: titleOf(message), at, ...(level === 'error' && { error: titleOf(what) }), message: partOf(message, 'text') };
}

export function describeNetwork({ at, host, port, refused }: NetworkEvent): Described {
  const goal = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    label: 'network',
    source: 'system',
    kind: refused === undefined ? 'message' : 'error',
    title: titleOf(refused === undefined ? `allowed ${goal}` : `refused ${goal}: it ${refused}`),
    at,
    ...(refused !== undefined && { error: 'refused' }),
    message: partOf(refused === undefined ? `The proxy connected the sandbox with ${goal}.` : `The proxy refused to connect the sandbox with ${goal}: it ${refused}.`, 'text'),
  };
}
