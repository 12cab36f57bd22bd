/** Chat messages as they are kept for training: OpenAI's `messages`, one conversation on each line, or ShareGPT's `conversations`. */
import { DocumentReader, type Mapper } from '../document.js';
import type { TraceFormat } from './format.js';
import { baseName, openLine, type LineFormat } from './lineMembers.js';
import { describeMessages, groupMessages } from './messages.js';
import { addVerdict } from './rewards.js';

const map: Mapper = (value, context) => describeMessages(value as unknown[], context);

const format: LineFormat = {
  what: 'conversation',
  patterns: ['messages.*', 'messages.*.role', 'conversations.*', 'conversations.*.from', 'conversations.*.role', 'id', 'model', 'reward'],
  naming: ['id'],
  name: (line, index) => String(line.text('id') ?? line.number('id') ?? `conversation ${index + 1}`),
  read(file, bytes, line, members, index) {
    const list = line.all('conversations.*').length ? 'conversations' : 'messages';
    const reward = line.number('reward');
    const reader = new DocumentReader({
      format: 'chat',
      version: list === 'messages' ? 'OpenAI messages' : 'ShareGPT',
      title: members.members ? `${baseName(file)} · ${format.name(line, index)}` : baseName(file),
      ...(line.text('model') && { model: line.text('model') }),
      ...(reward !== undefined && { reward }),
      end: { status: 'unknown', reason: 'the format does not say' },
      ...members,
    });
    for (const group of groupMessages(line, list)) reader.add({ bytes, ...group, map, elements: true });
    if (reward !== undefined) addVerdict(reader, { reward });
    return reader;
  },
};

export const chat: TraceFormat = {
  id: 'chat',
  title: 'chat messages JSONL',
  recognises: ({ top, keys }) => top === 'object' && (keys.get('messages')?.type === 'list' || keys.get('conversations')?.type === 'list'),
  open: ({ file, more }, bytes, options) => openLine(format, file, bytes!, more, options),
};
