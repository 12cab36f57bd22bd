/** The shape of `policy` in a template: who acts, and how. */
import * as z from 'zod';
import { duration, size } from './units.js';

const fromEnv = /^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$/;
const money = z.number().min(0);
const budget = z.int().min(1);

const TOOLS = ['bash', 'python', 'read', 'write', 'edit', 'submit'] as const;

const llm = z.strictObject({
  name: z.literal('llm').describe('A model that calls tools, turn by turn.'),
  base_url: z
    .string()
    .regex(/^(https?:\/\/\S+|vscode|\$\{env:[A-Za-z_][A-Za-z0-9_]*\})$/, 'expected an address such as `http://localhost:8000/v1`, `vscode`, or `${env:NAME}`')
    .describe('Address of an endpoint that speaks the OpenAI chat protocol: vLLM, Ollama, llama.cpp, a vendor. It is called from this machine, not from the sandbox. Or `vscode`: a model that VS Code itself offers.'),
  model: z.string().min(1).describe('Name of the model, as the endpoint knows it; with `vscode` its id, family or name.'),
  api_key: z.string().regex(fromEnv, 'expected `${env:NAME}`, the variable to take the key from').optional().describe('The key, as `${env:NAME}`. It never reaches the sandbox, a log or a trace.'),
  instructions: z.string().min(1).optional().describe('The system prompt.'),
  tools: z.array(z.enum(TOOLS)).min(1).optional().describe('Tools that the model may call; all of them if absent.'),
  parameters: z
    .record(z.string().regex(/^(?!(model|messages|tools|stream|stream_options)$)/, 'expected a parameter other than those that the policy sets itself'), z.unknown())
    .default({})
    .describe('Parameters of each request, such as `{temperature: 0.7, max_tokens: 2048}`; sent as they are.'),
  stream: z.boolean().default(true).describe('Whether replies are streamed.'),
  max_turns: budget.default(50).describe('Most replies of an episode.'),
  max_tokens: budget.optional().describe('Most tokens of an episode, prompts and replies of all calls together.'),
  max_cost: money.optional().describe('Most US dollars of an episode; needs `price`.'),
  context_tokens: budget.optional().describe("Size of the model's context, if room should be made before the endpoint refuses."),
  price: z
    .strictObject({ prompt: money.describe('Of tokens sent.'), completion: money.describe('Of tokens generated.'), cached: money.optional().describe('Of tokens sent that the endpoint had cached.') })
    .optional()
    .describe('US dollars for a million tokens.'),
  request_timeout: duration.prefault('5m').describe('How long a reply may take before it is asked for again.'),
  command_timeout: duration.prefault('60s').describe('How long a call of a tool may take.'),
  output_limit: size.prefault('16Ki').describe('How much of the output of a call the model is told: half from its beginning, half from its end.'),
});

const player = {
  command: z.array(z.string().min(1)).min(1).describe('Program and arguments, run on this machine in the template folder; lines of JSON on its standard input and output.'),
  per: z.enum(['run', 'episode']).default('run').describe('One process for all episodes, or one for each.'),
  timeout: duration.prefault('30s').describe('How long the program may take for an action.'),
};
const maxSteps = (steps: number) => budget.default(steps).describe('Most steps of an episode.');

const gym = z.strictObject({
  name: z.literal('gym').describe('A Gymnasium environment inside the sandbox.'),
  env: z
    .string()
    .regex(/^[A-Za-z_][\w./:-]*$/, 'expected an id such as `CartPole-v1`, or `module:Class`')
    .describe('Id of the environment, or `module:Class`.'),
  kwargs: z.record(z.string(), z.unknown()).default({}).describe('Arguments to make it with.'),
  actions: z
    .union(
      [
        z.literal('random').describe('Sampled from the action space, by the seed.'),
        z.strictObject({ constant: z.unknown().describe('The same action at each step.') }),
        z.strictObject({ script: z.array(z.unknown()).min(1).describe('Actions in their order; the episode ends after the last one.') }),
        z.strictObject(player),
      ],
      'expected `random`, `{constant: ...}`, `{script: [...]}` or `{command: [...]}`',
    )
    .default('random')
    .describe('Who chooses the actions.'),
  max_steps: maxSteps(1000),
  render: z.enum(['rgb_array', 'ansi']).optional().describe('Keeps what `render()` gives after each step.'),
  vector: budget.max(1024).optional().describe('How many environments side by side, each a lane of the trace.'),
});

const command = z.strictObject({
  name: z.literal('command').describe('A program on this machine that is told what its commands printed, and answers with the next one.'),
  ...player,
  max_steps: maxSteps(100),
  command_timeout: duration.prefault('60s').describe('How long a command in the sandbox may take.'),
});

const SHORT = ['script', 'oracle', 'noop', 'manual'] as const;

export const policy = z
  .union(
    [
      z.enum(SHORT, 'expected `script`, `oracle`, `noop`, `manual`, or a map with settings such as `{name: llm, ...}`'),
      z.discriminatedUnion(
        'name',
        [
          z.strictObject({ name: z.literal('script').describe('The command under `episode`; its output is the one step.') }),
          z.strictObject({ name: z.literal('oracle').describe('The reference solution under `solution`.') }),
          z.strictObject({ name: z.literal('noop').describe('Nobody: the snapshot is scored as it is.') }),
          z.strictObject({ name: z.literal('manual').describe('A person, command by command.') }),
          llm,
          gym,
          command,
        ],
        'expected a policy with its settings, such as `{name: llm, base_url: ..., model: ...}`',
      ),
    ],
    'expected `script`, `oracle`, `noop`, `manual`, or a policy with its settings, such as `{name: llm, ...}`',
  )
  .default('script')
  .describe('Who acts in an episode: a name, or a map with `name` and settings.');

/** With the short form written out. */
export type PolicySpec = Exclude<z.output<typeof policy>, string>;
