/**
 * SWE-agent's `.traj` (https://swe-agent.com, usage/trajectories): `trajectory` has the steps; demonstrations have only the `history` of
 * messages. The prompts come from the history, since `query` repeats the whole of it in each step.
 */
import type { FileBytes } from '../bytes.js';
import { DocumentReader, type Described, type Mapper } from '../document.js';
import { Outline } from '../json/scan.js';
import type { Part, TraceEnd } from '../model.js';
import { isRecord, numberOf, textOf, titleOf } from '../text.js';
import { TraceUnreadable, type TraceFormat } from './format.js';
import { argumentsOf, contentParts, describeMessages, groupMessages, isAssistant, type Joins } from './messages.js';

const STATS = ['instance_cost', 'total_cost', 'tokens_sent', 'tokens_received', 'api_calls'].map((name) => `info.model_stats.${name}`);
const PATTERNS = ['', 'environment', 'trajectory.*', 'history.*', 'history.*.role', 'history.*.message_type', 'info.exit_status', 'info.swe_agent_version', ...STATS];

/** A step of `trajectory`. */
const mapStep: Mapper = (value, context): Described => {
  if (!isRecord(value)) throw new Error('a step is no object');
  const text = (key: string): string => textOf(value[key])?.trim() ?? '';
  const action = text('action');
  // A response is most often the thought and the action in a block, which stand beside it.
  const repeats = text('response').includes(text('thought')) && text('response').includes(action) && (text('thought') || action);
  const said: Part[] = text('response') && !repeats ? [{ type: 'text', text: text('response') }] : [];
  const seconds = numberOf(value.execution_time);
  const state = argumentsOf(value.state);
  return {
    label: String(context.index),
    source: 'agent',
    kind: action ? 'action' : 'model',
    title: titleOf(action || text('response') || text('thought') || '(nothing)'),
    ...(seconds !== undefined && { ms: seconds * 1000 }),
    ...(text('thought') && { reasoning: [{ type: 'text', text: text('thought') }] }),
    message: said,
    action: action ? [{ type: 'code', language: 'sh', text: action }] : [],
    observation: contentParts(value.observation, 'terminal', context),
    info: { ...(state !== undefined && state !== null && { state }), ...(isRecord(value.extra_info) && { extra_info: value.extra_info }) },
  };
};

const mapMessages: Mapper = (value, context) => {
  const messages = value as unknown[];
  const [first] = messages;
  const described = describeMessages(messages, context);
  if (!isRecord(first) || !isAssistant(first.role) || described.calls?.length || typeof first.action !== 'string') return described;
  return { ...described, kind: 'action', title: titleOf(first.action), action: [{ type: 'code', language: 'sh', text: first.action }] };
};

function endOf(status: string | undefined): TraceEnd {
  if (status === undefined) return { status: 'unknown', reason: 'the file does not say' };
  if (/^submitted$/.test(status)) return { status: 'completed', reason: status };
  if (/limit|exit_cost|exit_context|timeout|exceeded|forfeit/i.test(status)) return { status: 'truncated', reason: titleOf(status) };
  return { status: /^submitted/.test(status) ? 'truncated' : 'error', reason: titleOf(status) };
}

async function read(file: string, bytes: FileBytes, signal?: AbortSignal): Promise<DocumentReader> {
  const outline = await Outline.of(bytes, { start: 0, end: bytes.size }, PATTERNS, signal);
  const stat = (name: string): number | undefined => outline.number(`info.model_stats.${name}`);
  const [sent, received, cost] = [stat('tokens_sent'), stat('tokens_received'), stat('instance_cost') ?? stat('total_cost')];
  const counted = Boolean(stat('api_calls'));
  const reader = new DocumentReader({
    format: 'swe-agent',
    ...(outline.text('info.swe_agent_version') && { version: outline.text('info.swe_agent_version') }),
    title: file.split(/[\\/]/).at(-1)!.replace(/\.traj$/, ''),
    agent: 'SWE-agent',
    ...(outline.text('environment') && { task: outline.text('environment') }),
    ...(counted && sent !== undefined && { tokens: { prompt: sent, completion: received } }),
    ...(counted && cost !== undefined && { cost }),
    end: endOf(outline.text('info.exit_status')),
  });
  const steps = outline.all('trajectory.*');
  const types = new Map(outline.all('history.*.message_type').map(({ indexes, value }) => [indexes[0], value]));
  const observes: Joins = (role, found, opened) => isAssistant(opened) && (role === 'tool' || types.get(found.indexes[0] ?? Number(found.key)) === 'observation' || (role === 'user' && !types.size));
  const groups = groupMessages(outline, 'history', observes);
  const prompts = steps.length ? groups.slice(0, groups.findIndex(({ role }) => isAssistant(role)) >>> 0) : groups;
  for (const group of prompts) reader.add({ bytes, ...group, map: mapMessages, elements: true });
  for (const step of steps) reader.add({ bytes, start: step.start, end: step.end, map: mapStep, kind: 'action' });
  if (!outline.whole) reader.problem('the file ends in the middle: its last part is not shown');
  if (!steps.length && !groups.length) throw new TraceUnreadable(`${file} has neither steps in "trajectory" nor messages in "history"`);
  reader.hold(bytes);
  return reader.ready();
}

export const sweAgent: TraceFormat = {
  id: 'swe-agent',
  title: 'SWE-agent .traj',
  recognises: ({ keys, top, more }) => top === 'object' && !more && (keys.get('trajectory')?.type === 'list' || keys.get('history')?.type === 'list'),
  open: ({ file }, bytes, { signal }) => read(file, bytes!, signal),
};
