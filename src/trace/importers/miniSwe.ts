/**
 * mini-swe-agent's `*.traj.json` (https://mini-swe-agent.com, usage/output_files): chat messages with `info` beside them; the oldest are a bare
 * list of messages. What the environment answers is a user's message, or a tool's.
 */
import { Outline } from '../json/scan.js';
import { DocumentReader, type Mapper } from '../document.js';
import type { TraceEnd } from '../model.js';
import { isRecord, numberOf, textOf, titleOf } from '../text.js';
import type { TraceFormat } from './format.js';
import { describeMessages, groupMessages, isAssistant, timeOf } from './messages.js';

const BLOCK = /```[\w-]*\n([\s\S]*?)\n?```/;

const map: Mapper = (value, context) => {
  const messages = (value as unknown[]).map((message) => (isRecord(message) && message.role === 'exit' ? { ...message, role: 'user' } : message));
  const described = describeMessages(messages, context);
  const [first, ...results] = messages.filter(isRecord);
  if (!first || !isAssistant(first.role)) return described;
  const extra = isRecord(first.extra) ? first.extra : {};
  const actions = (Array.isArray(extra.actions) ? extra.actions : []).filter(isRecord).flatMap((action) => textOf(action.command) ?? []);
  const block = typeof first.content === 'string' ? BLOCK.exec(first.content)?.[1] : undefined;
  const commands = actions.length ? actions : block !== undefined ? [block] : [];
  const answered = results.map((result) => (isRecord(result.extra) ? numberOf(result.extra.returncode) : undefined) ?? codeIn(result.content));
  const code = answered.find((one) => one !== undefined && one !== 0);
  const at = timeOf(extra.timestamp);
  return {
    ...described,
    ...(at !== undefined && { at }),
    ...(numberOf(extra.cost) !== undefined && { cost: numberOf(extra.cost) }),
    ...(commands.length && !described.calls?.length && { kind: 'action' as const, title: titleOf(commands.join(' && ')), action: commands.map((text) => ({ type: 'code' as const, language: 'sh', text })) }),
    ...(code !== undefined && { error: `exit ${code}` }),
  };
};

/** Of an answer that begins with `<returncode>`. */
function codeIn(content: unknown): number | undefined {
  const match = typeof content === 'string' ? /^\s*<returncode>(-?\d+)<\/returncode>/.exec(content) : undefined;
  return match ? Number(match[1]) : undefined;
}

function endOf(status: string | undefined): TraceEnd {
  if (!status) return { status: 'unknown', reason: 'the file does not say' };
  if (status === 'Submitted') return { status: 'completed', reason: status };
  return { status: /limit|exceeded|timeout/i.test(status) ? 'truncated' : 'error', reason: titleOf(status) };
}

export const miniSwe: TraceFormat = {
  id: 'mini-swe-agent',
  title: 'mini-swe-agent .traj.json',
  recognises: ({ top, keys, more, name }) =>
    !more && ((top === 'list' && keys.has('role') && (keys.has('content') || keys.has('tool_calls'))) || (keys.has('messages') && (keys.has('trajectory_format') || (keys.has('info') && /\.traj(\.json)?$/.test(name)) || (keys.has('info') && keys.get('info')!.type === 'object')))),
  async open({ file, top }, bytes, { signal }) {
    const list = top === 'list' ? '' : 'messages';
    const prefix = list && `${list}.`;
    const stats = 'info.model_stats.';
    const outline = await Outline.of(bytes!, { start: 0, end: bytes!.size }, ['', `${prefix}*`, `${prefix}*.role`, 'trajectory_format', 'info.mini_version', 'info.exit_status', `${stats}instance_cost`, 'info.config.model.model_name'], signal);
    const cost = outline.number(`${stats}instance_cost`);
    const reader = new DocumentReader({
      format: 'mini-swe-agent',
      version: outline.text('trajectory_format')?.replace(/^mini-swe-agent-/, '') ?? (top === 'list' ? 'list of messages' : '1'),
      title: file.split(/[\\/]/).at(-1)!.replace(/\.traj(\.json)?$/, ''),
      agent: ['mini-swe-agent', outline.text('info.mini_version')].filter(Boolean).join(' '),
      ...(outline.text('info.config.model.model_name') && { model: outline.text('info.config.model.model_name') }),
      ...(cost !== undefined && { cost }),
      end: endOf(outline.text('info.exit_status')),
    });
    for (const group of groupMessages(outline, list, (role, _found, opened) => isAssistant(opened) && (role === 'tool' || role === 'user' || role === 'exit'))) reader.add({ bytes: bytes!, ...group, map, elements: true });
    if (!outline.whole) reader.problem('the file ends in the middle: its last part is not shown');
    reader.hold(bytes!);
    return reader.ready();
  },
};
