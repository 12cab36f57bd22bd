/** A model that acts by calling tools, turn by turn, until it submits or a budget is spent. It is called from this machine: the sandbox needs no network. */
import type { Template } from '../../../template/template.js';
import type { Action, CallResult, StartEvent } from '../../../trace/events.js';
import { EpisodeLimit, settingsOf, type Ending, type Policy, type PolicyRequest } from '../policy.js';
import { ask, type CallOptions } from './calls.js';
import type { ChatModel, ChatReply } from './chat.js';
import { Conversation, inWords } from './conversation.js';
import { OFFERED, offeredModel } from './offered.js';
import { TOOL_NAMES, callTool, toolSchemas, type Toolbox } from './tools.js';

const instructions = (network: Template['network']['episode']): string =>
  `You work in a Linux sandbox ${reach(network)}. Act by calling tools; each call starts afresh, only files stay. Call submit when the task is done.`;
const reach = (network: Template['network']['episode']): string =>
  network === 'none' ? 'without a network' : network === 'full' ? 'with a network' : `with a network that leads, through a proxy, to these hosts only: ${network.allow.join(', ')}`;
/** To a model that comes in the middle. */
const BEFORE = 'Somebody has worked on this before you, in this sandbox. These commands were run, in this order, and printed:';
/** A model that answers without a call is told once in a row; a second time means that it is done. */
const NUDGE = 'Go on by calling a tool, or call submit if the task is done.';
/** Of `context_tokens`: where room is made before the endpoint complains. */
const FULL = 0.9;

export async function llm(request: PolicyRequest): Promise<Policy> {
  const { template } = request;
  const settings = settingsOf(template, 'llm');
  if (template.task === undefined) throw new Error(`${template.file} has no task: the policy \`llm\` needs \`task\`, which is what the model is asked to do`);
  const names = settings.tools ?? TOOL_NAMES;
  const variables = await request.variables([settings.base_url, settings.api_key].flatMap((value) => (value === undefined ? [] : nameIn(value) ?? [])));
  const resolve = (value: string): string => {
    const name = nameIn(value);
    if (name === undefined) return value;
    if (!variables[name]) throw new Error(`${template.file} needs $${name} for the policy \`llm\`, which is not set in the environment`);
    return variables[name];
  };
  const [url, key] = [resolve(settings.base_url), settings.api_key === undefined ? undefined : resolve(settings.api_key)];
  const { chat } = request;
  if (url === OFFERED && !chat) throw new Error(`${template.file} asks for a model that VS Code offers: start the run in VS Code, or name an endpoint as \`base_url\``);
  let model: Promise<ChatModel> | undefined;
  // The package is large, and a run of another policy never needs it.
  const open = (): Promise<ChatModel> =>
    url === OFFERED ? Promise.resolve(offeredModel(chat!, settings.model, settings.request_timeout)) : (model ??= import('./openai.js').then(({ openaiModel }) => openaiModel({ url, model: settings.model, key, stream: settings.stream, requestTimeoutMs: settings.request_timeout })));
  const { price } = settings;
  const cost: CallOptions['cost'] = (tokens) => {
    if (!price || !tokens) return undefined;
    const { prompt = 0, completion = 0, cached = 0 } = tokens;
    return ((prompt - cached) * price.prompt + cached * (price.cached ?? price.prompt) + completion * price.completion) / 1e6;
  };
  const tools = toolSchemas(names);
  const { max_turns: maxTurns, max_tokens: maxTokens, max_cost: maxCost, context_tokens: contextTokens } = settings;
  // They came from YAML, which has nothing that JSON has not.
  const parameters = settings.parameters as CallOptions['parameters'];
  const limits = { maxTurns, maxTokens, maxCost, contextTokens };
  const description: StartEvent['policy'] = { name: 'llm', model: settings.model, url, parameters, ...limits, outputLimit: settings.output_limit, commandTimeout: settings.command_timeout };
  return {
    description,
    tools: tools as unknown as Policy['tools'],
    secrets: key === undefined ? {} : { 'api_key': key },
    act: async (stage) => {
      const conversation = new Conversation(stage.trace);
      if (!conversation.takeUp(stage.past)) {
        conversation.say('system', settings.instructions ?? instructions(template.network.episode));
        conversation.say('user', template.task!);
        if (stage.past.length) conversation.say('user', `${BEFORE}\n\n${stage.past.map(inWords).filter(Boolean).join('\n\n')}`);
      }
      const box: Toolbox = { stage, outputLimit: settings.output_limit, commandTimeoutMs: settings.command_timeout };
      return play(conversation, box, names, { stage, model: await open(), tools, parameters, cost }, limits);
    },
  };
}

interface Limits {
  readonly maxTurns: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly contextTokens?: number;
}

async function play(conversation: Conversation, box: Toolbox, names: readonly string[], options: CallOptions, limits: Limits): Promise<Ending> {
  let [silent, tokens, dollars] = [0, 0, 0];
  for (let turn = 1; turn <= limits.maxTurns; turn++) {
    const reply = await ask(conversation, options);
    const used = (reply.tokens?.prompt ?? 0) + (reply.tokens?.completion ?? 0);
    tokens += used;
    dollars += options.cost(reply.tokens) ?? 0;
    if (await takeTurn(conversation, box, names, reply, options)) return { status: 'completed' };
    silent = reply.toolCalls.length ? 0 : silent + 1;
    if (silent === 2) return { status: 'completed' };
    if (silent === 1) conversation.say('user', NUDGE);
    if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) throw new EpisodeLimit('max_tokens', `used ${tokens} tokens, of ${limits.maxTokens}`);
    if (limits.maxCost !== undefined && dollars >= limits.maxCost) throw new EpisodeLimit('max_cost', `cost $${dollars.toFixed(4)}, of $${limits.maxCost}`);
    if (limits.contextTokens !== undefined && used > limits.contextTokens * FULL) conversation.makeRoom();
  }
  throw new EpisodeLimit('max_turns', `took ${limits.maxTurns} turns and did not submit`);
}

/** Carries out the calls of a reply, in their order, as one step. Resolves with whether the model submitted. */
async function takeTurn(conversation: Conversation, box: Toolbox, names: readonly string[], reply: ChatReply, { stage, cost }: CallOptions): Promise<boolean> {
  const { trace } = stage;
  const calls = reply.toolCalls.map(({ id, function: { name, arguments: written } }, index) => ({ id: id || `call_${stage.steps + 1}_${index}`, name, input: parse(written) }));
  const action: Action = {
    kind: 'calls',
    ...(reply.content === null ? {} : { text: trace.content(reply.content) }),
    ...(reply.reasoning === undefined ? {} : { reasoning: trace.content(reply.reasoning) }),
    calls: calls.map(({ id, name, input }) => ({ id, name, arguments: trace.content(input) })),
  };
  let done = false;
  await stage.step(action, async () => {
    const results: CallResult[] = [];
    const files = [];
    for (const { id, name, input } of calls) {
      const start = performance.now();
      const { files: changed, done: submitted, stdout, ...rest } = await callTool(box, names, name, input);
      conversation.result(id, { stdout, ...rest });
      results.push({ call: id, ms: Math.round(performance.now() - start), stdout: trace.content(stdout), ...rest });
      if (changed) files.push(...changed);
      done ||= submitted ?? false;
    }
    const price = cost(reply.tokens);
    return {
      observation: results.length ? { kind: 'results', results } : { kind: 'none' },
      terminated: done,
      ...(reply.tokens ? { tokens: reply.tokens } : {}),
      ...(price === undefined ? {} : { cost: price }),
      ...(files.length ? { files } : {}),
    };
  });
  return done;
}

/** Arguments as JSON; the text itself where they are none. */
function parse(text: string): string | Record<string, unknown> {
  try {
    const value = JSON.parse(text || '{}') as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The model is told.
  }
  return text;
}

/** The variable that a value is to be taken from, if it is written as `${env:NAME}`. */
const nameIn = (value: string): string | undefined => /^\$\{env:(\w+)\}$/.exec(value)?.[1];
