/**
 * The shape of a template file, in one place: the validator, the types, `schemas/rlenv.schema.json`, completion and hover all
 * come from here. Positions, suggestions and what one key says about another are in `validate.ts`.
 */
import { z } from 'zod';
import { duration, size } from './units.js';

const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/, 'expected 1 to 63 of a-z, 0-9, ".", "_" and "-", starting and ending with a letter or digit');

const envName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected a variable name: letters, digits and "_", not starting with a digit');
const sandboxPath = z.string().regex(/^\//, 'expected an absolute path inside the sandbox').refine((path) => !path.split('/').includes('..'), 'expected a path without ".."');
const hostPath = z.string().min(1);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const env = z.record(envName, scalar).describe('Environment variables. Values are plain text; secrets go under `secrets`.');

const gpu = z
  .union([z.number().int().min(0).max(64), z.literal('all'), z.string().min(1), z.strictObject({ count: z.number().int().min(1).max(64).default(1), model: z.string().min(1).optional() })])
  .describe('GPUs: a count, `all`, a model (`A100`), or `{count, model}`.');

const resources = z
  .strictObject({
    cpu: z.number().positive().max(1024).optional().describe('Cores; fractions allowed.'),
    memory: size.optional().describe('Memory, such as `2Gi`.'),
    gpu: gpu.optional(),
    pids: z.number().int().min(1).max(4_194_304).optional().describe('Most processes and threads at once.'),
    disk: size.optional().describe('How much an episode may write, such as `512Mi`.'),
  })
  .describe('Upper bounds of each sandbox.');

const networkPolicy = z.enum(['none', 'full']);
const network = z
  .union([networkPolicy, z.strictObject({ setup: networkPolicy.default('full'), episode: networkPolicy.default('none') })])
  .describe('Network while setting up and while an episode runs. Setup has it and episodes have none unless asked.');

const step = z
  .union([
    z.strictObject({ run: z.string().min(1).describe('Shell commands, run by `sh -e`.'), timeout: duration.optional() }),
    z.strictObject({ python: z.string().min(1).describe('Python code, run by `python3`.'), timeout: duration.optional() }),
  ])
  .describe('One step of setup: `run:` shell or `python:` code.');

const seeds = z
  .union([z.number().int().min(1).max(10_000_000), z.array(z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)).min(1), z.string().regex(/^\d+\.\.\d+$/, 'expected a range such as `0..511`')])
  .describe('How many seeds (0, 1, 2, ...), a list of seeds, or a range `0..511` with both ends.');

const episode = z
  .strictObject({
    run: z.string().min(1).optional().describe('Shell commands of one episode. `RL_SEED`, `RL_SAMPLE` and `RL_EPISODE` are set.'),
    python: z.string().min(1).optional().describe('Python code of one episode, in place of `run`.'),
    timeout: duration.default(60_000).describe('How long an episode may act. One that takes longer is `truncated`.'),
    seeds: seeds.default(1),
    samples: z.number().int().min(1).max(100_000).default(1).describe('Episodes per seed.'),
  })
  .describe('What one episode does.');

/** What can stand beside every kind of reward. */
const component = {
  name: z.string().min(1).max(100).optional().describe('Name of the component; its type if absent.'),
  weight: z.number().default(1).describe('The reward is the sum of weight x value.'),
  timeout: duration.default(60_000).describe('How long the verifier may take.'),
};
/** What can stand beside every kind of reward that reads the sandbox. */
const common = {
  run: z.string().min(1).optional().describe('A verifier: shell commands that run after the episode, when its processes are dead. The reward is then read from what the verifier left.'),
  python: z.string().min(1).optional().describe('A verifier in Python, in place of `run`.'),
  ...component,
};
const rewardComponent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('stdout').describe('The last line of standard output that is not blank, as a number.'), ...common }),
  z.strictObject({ type: z.literal('exit_code').describe('1 if the exit code is 0, else 0.'), ...common }),
  z.strictObject({
    type: z.literal('files').describe('`reward.json` (named components) or `reward.txt` (one number) in a folder of the sandbox.'),
    directory: sandboxPath.default('/logs/verifier'),
    ...common,
  }),
  z.strictObject({ type: z.literal('junit').describe('Share of tests that passed, from a JUnit XML report.'), path: sandboxPath, ...common }),
  z.strictObject({ type: z.literal('ctrf').describe('Share of tests that passed, from a CTRF JSON report.'), path: sandboxPath, ...common }),
  z.strictObject({
    type: z.literal('diff').describe('How close a file of the sandbox is to an expected one.'),
    path: sandboxPath,
    expected: hostPath.describe('The expected file, relative to the template.'),
    mode: z.enum(['exact', 'lines']).default('exact').describe('`exact`: 1 or 0. `lines`: 2 x common lines / all lines, in order.'),
    ...common,
  }),
  z.strictObject({
    type: z.literal('scorer').describe('A program on this machine that is given the downloaded files and prints a reward.'),
    command: z.array(z.string().min(1)).min(1).describe('Program and arguments, run in the template folder; RL_FILES is the folder of downloaded files.'),
    files: z.array(sandboxPath).min(1).describe('Files of the sandbox to download, as glob patterns.'),
    ...component,
  }),
  z.strictObject({
    type: z.literal('sandbox').describe('A second sandbox, with its own image and GPU, that is given files of the first and prints a reward: a reward model.'),
    image: z.string().min(1).optional(),
    dockerfile: hostPath.optional(),
    resources: resources.optional(),
    env: env.optional(),
    files: z.array(sandboxPath).min(1).describe('Files of the first sandbox, as glob patterns; they lie at the same paths under /input.'),
    setup: z.array(step).default([]),
    ...common,
  }),
]);

const reward = z
  .union([z.enum(['stdout', 'exit_code', 'files']), rewardComponent, z.array(rewardComponent).min(1).max(50)])
  .describe('Where the reward comes from: a short name, one component, or a weighted sum of several, computed in order.');

const rewardRange = z
  .tuple([z.number(), z.number()])
  .refine(([low, high]) => low < high, 'expected [low, high] with low below high')
  .describe('Lowest and highest reward. One outside is a finding about the verifier, not a reward.');

export const templateSchema = z
  .strictObject({
    name: name.describe('Name of the template.'),
    description: z.string().optional(),
    provider: z.string().min(1).optional().describe('Where sandboxes live; `auto` if absent.'),
    image: z.string().min(1).optional().describe('Container image, or a root folder if it starts with `./` or `/`.'),
    dockerfile: hostPath.optional().describe('Dockerfile to build the image from, relative to the template.'),
    packages: z
      .strictObject({ apt: z.array(z.string().min(1)).default([]), python: z.array(z.string().min(1)).default([]) })
      .optional()
      .describe('Packages to install before setup.'),
    resources: resources.optional(),
    env: env.optional(),
    secrets: z
      .union([z.array(envName), z.record(envName, z.string().regex(/^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$/, 'expected `${env:NAME}`'))])
      .optional()
      .describe('Secrets by name, taken from the environment: a list of names, or `NAME: ${env:OTHER}`. Values never reach a file, a log or a trace.'),
    files: z.array(z.strictObject({ from: hostPath, to: sandboxPath })).optional().describe('Files and folders of the workspace, copied in before setup.'),
    network: network.optional(),
    setup: z.array(step).optional().describe('Steps that prepare the sandbox; what they leave is the snapshot.'),
    episode,
    reward: reward.default('stdout'),
    reward_range: rewardRange.optional(),
    artifacts: z.array(sandboxPath).optional().describe('Files to keep from each episode, as glob patterns.'),
    keep_warm: z.union([duration, z.literal(-1)]).optional().describe('How long a sandbox stays after its episode; -1 until terminated.'),
  })
  .describe('An environment template of RL Sandboxes.');

/** A template as written, with defaults filled in. Durations are milliseconds, sizes are bytes. */
export type TemplateInput = z.output<typeof templateSchema>;
