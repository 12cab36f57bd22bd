/** What a model that VS Code offers is told, and what is made of what it says. */
import assert from 'node:assert/strict';
import { answerChat, type Models, type Piece } from '../../../src/extension/models/answer.js';

const TOOLS = [{ type: 'function', function: { name: 'bash', description: 'Runs.', parameters: {} } }] as const;
const REQUEST = {
  model: 'fake-1',
  tools: TOOLS,
  parameters: { temperature: 0 },
  messages: [
    { role: 'system', content: 'Act.' },
    { role: 'user', content: 'Mend it.' },
    { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'a', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'calc.py' },
  ],
} as const;

function models(send: (told: unknown) => Iterable<Piece>): Models {
  return {
    list: () => Promise.resolve([{ id: 'x', family: 'other', name: 'Other', send: () => assert.fail() }, { id: 'y', family: 'fake-1', name: 'Fake', async *send(...told) { await Promise.resolve(); yield* send(told.slice(0, 3)); } }]),
    kindOf: (error) => ((error as Error).message === 'no' ? 'refused' : undefined),
  };
}
const never = new AbortController().signal;

describe('a model that VS Code offers', () => {
  it('is told what was said, and says text and calls', async () => {
    let told: unknown;
    const reply = await answerChat(models((given) => ((told = given), [{ text: 'Now ' }, { text: 'this.' }, { call: 'b', name: 'bash', input: { command: 'true' } }])), REQUEST, never);
    assert.deepEqual(reply, { content: 'Now this.', toolCalls: [{ id: 'b', type: 'function', function: { name: 'bash', arguments: '{"command":"true"}' } }], finishReason: 'tool_calls' });
    assert.deepEqual(told, [
      [
        { by: 'user', pieces: [{ text: 'Act.' }] },
        { by: 'user', pieces: [{ text: 'Mend it.' }] },
        { by: 'model', pieces: [{ text: 'I look.' }, { call: 'a', name: 'bash', input: { command: 'ls' } }] },
        { by: 'user', pieces: [{ resultOf: 'a', text: 'calc.py' }] },
      ],
      TOOLS,
      { temperature: 0 },
    ]);
  });

  it('is missed with one sentence, and its failures are answers', async () => {
    assert.deepEqual(await answerChat(models(() => []), { ...REQUEST, model: 'gone' }, never), { failure: 'refused', message: 'VS Code offers no model gone: it offers other, fake-1' });
    assert.deepEqual(await answerChat({ ...models(() => []), list: () => Promise.resolve([]) }, REQUEST, never), { failure: 'refused', message: 'VS Code offers no model: an extension has to, such as one for chats' });
    const fails = (why: string) => answerChat(models(() => { throw new Error(why); }), REQUEST, never);
    assert.deepEqual(await fails('no'), { failure: 'refused', message: 'no' });
    assert.deepEqual(await fails('busy'), { failure: 'again', message: 'busy' });
    await assert.rejects(answerChat(models(() => { throw new Error('late'); }), REQUEST, AbortSignal.abort(new Error('over'))), /over/);
  });
});
