/**
 * A model server on HTTP that speaks the OpenAI chat protocol, streamed or not. What it answers is decided by a small program of rules that reads
 * the messages, as a model does; faults can be asked for, one for each request to come.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

export interface Request {
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [parameter: string]: unknown;
}

/** What the model says: text, calls, or both. Arguments that are text are sent as they are. */
export interface Decision {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly (readonly [name: string, args: object | string])[];
}

export type Fault = { readonly status: number; readonly retryAfter?: number; readonly body?: object } | 'reset' | 'reset-midstream' | 'hang' | 'nonsense';

export class ModelServer {
  readonly requests: Request[] = [];
  readonly keys: (string | undefined)[] = [];
  /** For the requests to come, in order; `undefined` for none. */
  readonly faults: (Fault | undefined)[] = [];
  /** Longest conversation in characters, as a context has an end. */
  contextCharacters = Infinity;
  private readonly server = createServer((request, response) => void this.answer(request, response).catch((error: unknown) => response.destroy(error as Error)));

  constructor(private readonly decide: (request: Request) => Decision) {}

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    if (incoming.method !== 'POST' || !incoming.url?.endsWith('/chat/completions')) return void response.writeHead(404).end('{}');
    const request = JSON.parse(body) as Request;
    this.requests.push(request);
    this.keys.push(incoming.headers.authorization?.replace(/^Bearer /, ''));
    const fault = this.faults.shift();
    if (fault === 'reset') return void incoming.socket.resetAndDestroy();
    if (fault === 'hang') return;
    if (fault === 'nonsense') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello": [');
    if (typeof fault === 'object') {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }) });
      return void response.end(JSON.stringify(fault.body ?? { error: { message: `fault ${fault.status}` } }));
    }
    const characters = request.messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    if (characters > this.contextCharacters) {
      const error = { code: 'context_length_exceeded', message: `This model's maximum context length is ${this.contextCharacters} characters.`, type: 'invalid_request_error' };
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    }
    const { text, reasoning, calls = [] } = this.decide(request);
    const toolCalls = calls.map(([name, args], index) => ({ id: `call_${this.requests.length}_${index}`, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } }));
    const usage = { prompt_tokens: Math.ceil(characters / 4), completion_tokens: 20 + (text?.length ?? 0), total_tokens: 0, prompt_tokens_details: { cached_tokens: Math.floor(characters / 8) } };
    const finish = toolCalls.length ? 'tool_calls' : 'stop';
    const head = { id: 'c', created: 1, model: request.model };
    if (!request.stream) {
      const message = { role: 'assistant', content: text ?? null, ...(reasoning ? { reasoning_content: reasoning } : {}), ...(toolCalls.length ? { tool_calls: toolCalls } : {}) };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, reason: string | null = null) => response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
    send({ role: 'assistant', content: '' });
    if (reasoning) send({ reasoning_content: reasoning });
    for (const piece of text?.match(/[^]{1,7}/g) ?? []) send({ content: piece });
    if (fault === 'reset-midstream') {
      await new Promise((resolve) => response.write(': now\n\n', resolve));
      return void incoming.socket.resetAndDestroy();
    }
    for (const [index, { id, function: call }] of toolCalls.entries()) {
      send({ tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] });
      for (const piece of call.arguments.match(/[^]{1,9}/g) ?? []) send({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    send({}, finish);
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  }
}
