/**
 * The shape of a template file, in one place: the validator, the types, `schemas/rlenv.schema.json`, completion and hover all
 * come from here. What one key says about another is in `rules.ts`. Own messages begin with "expected"; what was found is added to them.
 */
import * as z from 'zod';
import { network } from './network.js';
import { policy } from './policySchema.js';
import { duration, size } from './units.js';

/** Most seeds of a template, and most episodes of a run. */
export const MAX_EPISODES = 10_000_000;

/** A map's own message for what is no map; unknown keys keep theirs. */
const noMap = (message: string) => ({ error: (issue: { code?: string }) => (issue.code === 'invalid_type' ? message : undefined) });

const matching = (pattern: RegExp, expected: string) => z.string(expected).regex(pattern, expected);

const name = matching(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/, 'expected 1 to 63 of a-z, 0-9, ".", "_" and "-", starting and ending with a letter or digit');
const provider = matching(/^[a-z0-9][a-z0-9-]*$/, 'expected `auto` or the name of a provider, such as `docker`');
const envName = matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected a variable name: letters, digits and "_", not starting with a digit');
const fromEnv = matching(/^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$/, 'expected `${env:NAME}`, the variable to take the value from');
/** Control characters in a path or a package are an accident or an attack on a terminal. Written out: not every reader of the JSON Schema knows `\p{Cc}`. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
const sandboxPath = matching(new RegExp(`^/(?!(.*/)?\\.\\.(/|$))[^${CONTROL}]*$`), 'expected an absolute path inside the sandbox, without ".."');
const hostPath = matching(new RegExp(`^[^\\\\${CONTROL}]+$`), 'expected a path, with "/" between folders');
const image = matching(new RegExp(`^(\\.?/[^${CONTROL}]*|[A-Za-z0-9][^\\s${CONTROL}]*)$`), 'expected the name of a container image, or a root folder that starts with `./` or `/`');
const aptPackage = matching(/^[a-z0-9][a-z0-9+.-]*(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$/, 'expected the name of a Debian package, such as `git` or `git=1:2.39.5-0+deb12u2`');
const pythonPackage = matching(new RegExp(`^[A-Za-z0-9][^${CONTROL}]*$`), 'expected a Python requirement, such as `numpy` or `numpy==2.1.0`');
const componentName = matching(new RegExp(`^[^${CONTROL}]{1,100}$`), 'expected 1 to 100 characters on one line');
const script = z.string('expected a script').min(1, 'expected a script that is not empty');

const env = z
  .record(envName, z.union([z.string(), z.number(), z.boolean()], 'expected text (`""` for an empty one)'), noMap('expected names with values, such as `PORT: 8080`'))
  .describe('Environment variables. Values are text, as written; secrets go under `secrets`.');

const gpu = z
  .union(
    [
      z.int().min(0).max(64),
      z.literal('all'),
      matching(/^[A-Za-z][A-Za-z0-9 ._-]*$/, 'expected a count, `all`, or a model such as `A100`'),
      z.strictObject({
        count: z.union([z.int().min(1).max(64), z.literal('all')], 'expected a count from 1 to 64, or `all`').default(1).describe('How many, or `all`.'),
        model: z.string().min(1).optional().describe('Part of the name of the model, such as `A100`.'),
        ids: z
          .array(z.union([z.int().min(0), matching(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'expected a number such as `0`, or an identifier such as `GPU-5c1c0f0a`')], 'expected a number such as `0`, or an identifier such as `GPU-5c1c0f0a`'))
          .min(1)
          .max(64)
          .optional()
          .describe('Certain devices, by number or identifier, in place of a count and a model.'),
        share: z.int().min(1).max(64).optional().describe('How many sandboxes may use a device at the same time; 1 if absent.'),
      }),
    ],
    'expected a count, `all`, a model such as `A100`, or `{count: 2, model: A100}`',
  )
  .describe('GPUs: a count, `all`, a model such as `A100`, or a map with `count`, `model`, `ids` and `share`.');

const resources = z
  .strictObject({
    cpu: z.number().positive().max(1024).optional().describe('Cores; fractions allowed.'),
    memory: size.refine((bytes) => bytes >= 6 * 2 ** 20, 'expected at least `6Mi`').optional().describe('Memory, such as `2Gi`.'),
    gpu: gpu.optional(),
    pids: z.int().min(1).max(4_194_304).optional().describe('Most processes and threads at once.'),
    disk: size.optional().describe('How much a sandbox may write, such as `512Mi`.'),
  })
  .describe('Upper bounds of each sandbox.');

const isolation = z
  .enum(['default', 'gvisor'], 'expected `default` or `gvisor`')
  .describe('What keeps an episode from the kernel of the machine: the provider\'s own way (`default`), or gVisor, a kernel in user space.');
const user = z
  .union([z.int().min(0).max(4_294_967_294), matching(/^([a-z_][a-z0-9_-]{0,31}|\d{1,10})(:([a-z_][a-z0-9_-]{0,31}|\d{1,10}))?$/, 'expected a user, such as `agent`, `1000` or `1000:1000`')], 'expected a user, such as `agent`, `1000` or `1000:1000`')
  .describe('Who an episode runs as, by name or number in the image. Setup runs as root.');
const readOnly = z
  .union(
    [
      z.boolean(),
      z.strictObject({ except: z.array(sandboxPath).max(50).describe('Folders that can be written to all the same, with what setup left in them.') }),
    ],
    'expected `true`, or `{except: [/repo]}`',
  )
  .describe('Whether an episode finds a root that cannot be written to, but for `/tmp`, the working folder, the folder of the reward `files`, and `except`.');

const step = z
  .strictObject(
    {
      run: script.optional().describe('Shell commands, run by `sh -e`.'),
      python: script.optional().describe('Python code, run by `python3`, in place of `run`.'),
      timeout: duration.optional().describe('How long the step may take, such as `10m`.'),
    },
    noMap('expected a step: `run:` with shell commands, or `python:` with code'),
  )
  .describe('One step of setup: `run:` shell or `python:` code.');

const port = z.int('expected a port from 1 to 65535').min(1, 'expected a port from 1 to 65535').max(65_535, 'expected a port from 1 to 65535');
const serviceName = matching(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected 1 to 63 of a-z, 0-9, "_" and "-", starting with a letter or digit');
const url = matching(/^http:\/\/(localhost|127\.0\.0\.1):\d{1,5}(\/[!-~]*)?$/, 'expected an address in the sandbox, such as `http://localhost:8080/health`');
const readiness = 'expected one of `port: 8080`, `http: http://localhost:8080/health` and `command: test -e /run/up`';
const ready = z
  .union(
    [
      z.strictObject({ port: port.describe('Ready when something listens on this port.') }),
      z.strictObject({ http: url.describe('Ready when this answers with a status below 400.') }),
      z.strictObject({ command: script.describe('Ready when these shell commands end with 0.') }),
    ],
    readiness,
  )
  .describe('What tells that the service is ready: `port`, `http` or `command`. Without it, it is ready when it has been started.');

const service = z
  .strictObject(
    {
      name: serviceName.describe('Name of the service.'),
      run: script.describe('Shell commands that run the service.'),
      ready: ready.optional(),
      timeout: duration.prefault('30s').describe('How long it may take until it is ready.'),
    },
    noMap('expected a service: `name` and `run`'),
  )
  .describe('A program that runs beside the episode.');

const seeds = z
  .union(
    [
      z.int().min(1).max(MAX_EPISODES),
      z.array(z.int().min(0)).min(1),
      matching(/^\d+\.\.\d+$/, 'expected a range such as `0..511`'),
    ],
    'expected a count, a list of seeds, or a range such as `0..511`',
  )
  .describe('How many seeds (0, 1, 2, ...), a list of seeds, or a range `0..511` with both ends.');

const episode = z
  .strictObject({
    run: script.optional().describe('Shell commands of one episode. `RL_SEED`, `RL_SAMPLE` and `RL_EPISODE` are set.'),
    python: script.optional().describe('Python code of one episode, in place of `run`.'),
    timeout: duration.prefault('60s').describe('How long an episode may act. One that takes longer is `truncated`.'),
    seeds: seeds.default(1),
    samples: z.int().min(1).max(100_000).default(1).describe('Episodes per seed.'),
  })
  .describe('What one episode does: `run` or `python`, for how long, and on which seeds.');

const solution = z
  .strictObject(
    { run: script.optional().describe('Shell commands that solve it.'), python: script.optional().describe('Python code that solves it, in place of `run`.') },
    noMap('expected a solution: `run:` with shell commands, or `python:` with code'),
  )
  .describe('The reference solution: what the policy `oracle` runs.');

/** What can stand beside every kind of reward. */
const component = {
  name: componentName.optional().describe('Name of the component; its type if absent.'),
  weight: z.number().default(1).describe('The reward is the sum of weight x value.'),
  timeout: duration.prefault('60s').describe('How long the verifier may take.'),
};
/** What can stand beside every kind of reward that reads the sandbox. */
const common = {
  run: script.optional().describe('A verifier: shell commands that run after the episode, when its processes are dead. The reward is then read from what the verifier left.'),
  python: script.optional().describe('A verifier in Python, in place of `run`.'),
  ...component,
};
const path = sandboxPath.describe('The file in the sandbox.');
const rewardComponent = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('stdout').describe('The last line of standard output that is not blank, as a number.'), ...common }),
      z.strictObject({ type: z.literal('exit_code').describe('1 if the exit code is 0, else 0.'), ...common }),
      z.strictObject({ type: z.literal('return').describe('The sum of the rewards of the steps, as the policy `gym` has them.'), ...component }),
      z.strictObject({
        type: z.literal('files').describe('`reward.json` (named components) or `reward.txt` (one number) in a folder of the sandbox.'),
        directory: sandboxPath.default('/logs/verifier').describe('The folder that holds them.'),
        ...common,
      }),
      z.strictObject({ type: z.literal('junit').describe('Share of tests that passed, from a JUnit XML report.'), path, ...common }),
      z.strictObject({ type: z.literal('ctrf').describe('Share of tests that passed, from a CTRF JSON report.'), path, ...common }),
      z.strictObject({
        type: z.literal('diff').describe('How close a file of the sandbox is to an expected one.'),
        path,
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
        image: image.optional().describe('Container image or root folder of the second sandbox.'),
        dockerfile: hostPath.optional().describe('Dockerfile of the second sandbox, relative to the template.'),
        resources: resources.optional(),
        env: env.optional(),
        files: z.array(sandboxPath).min(1).describe('Files of the first sandbox, as glob patterns; they lie at the same paths under /input.'),
        setup: z.array(step).default([]).describe('Steps that prepare the second sandbox.'),
        ...common,
      }),
    ],
    'expected a reward component, such as `{type: stdout}`',
  )
  .describe('One component of the reward.');

const reward = z
  .union([z.enum(['stdout', 'exit_code', 'files', 'return']), rewardComponent, z.array(rewardComponent).min(1).max(50)], 'expected a short name such as `stdout`, a component with a `type`, or a list of components')
  .describe('Where the reward comes from: a short name, one component, or a weighted sum of several, computed in order.');

const rewardRange = z
  .tuple([z.number(), z.number()], 'expected two numbers, `[low, high]`')
  .refine(([low, high]) => low < high, 'expected `[low, high]` with low below high')
  .describe('Lowest and highest reward. One outside is a finding about the verifier, not a reward.');

export const templateSchema = z
  .strictObject(
    {
      name: name.describe('Name of the template, unique in the workspace.'),
      description: z.string().optional().describe('What the environment is about, for people.'),
      provider: provider.optional().describe('Where sandboxes live: `bubblewrap`, `docker`, `podman`, `e2b`, `beam`, or `auto`, which is also what an absent key means.'),
      image: image.optional().describe('Container image, or a root folder if it starts with `./` or `/`.'),
      dockerfile: hostPath.optional().describe('Dockerfile to build the image from, relative to the template. Its folder is the build context.'),
      packages: z
        .strictObject({
          apt: z.array(aptPackage).default([]).describe('Debian packages.'),
          python: z.array(pythonPackage).default([]).describe('Python packages, as pip takes them.'),
        })
        .optional()
        .describe('Packages to install before setup.'),
      resources: resources.optional(),
      env: env.optional(),
      secrets: z
        .union([z.array(envName), z.record(envName, fromEnv)], 'expected a list of names, or names with `${env:NAME}`')
        .optional()
        .describe('Secrets by name, taken from the environment: a list of names, or `NAME: ${env:OTHER}`. Values never reach a file, a log or a trace.'),
      files: z
        .array(
          z.strictObject(
            {
              from: hostPath.describe('File or folder, relative to the template and inside its folder.'),
              to: sandboxPath.describe('Absolute path that it gets in the sandbox. One that ends in `/` is a folder to put it in under its own name.'),
            },
            noMap('expected `{from: ..., to: ...}`'),
          ),
        )
        .optional()
        .describe('Files and folders to copy in before setup.'),
      network: network.optional(),
      isolation: isolation.default('default'),
      user: user.optional(),
      read_only: readOnly.default(false),
      services: z.array(service).max(50).optional().describe('Programs that are started in every sandbox, in this order, each when the one before is ready; then the episode begins.'),
      setup: z.array(step).optional().describe('Steps that prepare the sandbox; what they leave is the snapshot.'),
      episode,
      task: z.string('expected a text').min(1, 'expected a text that is not empty').optional().describe('What an agent is asked to do: the first message that a model is sent.'),
      policy,
      solution: solution.optional(),
      reward: reward.default('stdout'),
      reward_range: rewardRange.optional(),
      artifacts: z.array(sandboxPath).optional().describe('Files to keep from each episode, as glob patterns.'),
      max_cost: z.number('expected dollars, such as `1.50`').positive('expected dollars above 0, such as `1.50`').max(1_000_000, 'expected at most 1000000 dollars').optional().describe('Most dollars that a run may cost at a provider that bills; a run that comes to it ends.'),
      keep_warm: z
        .union([duration, z.literal(-1, 'expected a duration such as `5m`, or -1')], 'expected a duration such as `5m`, or -1')
        .optional()
        .describe('How long a sandbox stays after its episode; -1 until terminated. A provider that bills goes on billing it.'),
    },
    noMap('expected a template: a map with the keys "name" and "episode"'),
  )
  .describe('An environment template of RL Sandboxes.');

/** A template as written, with defaults filled in. Durations are milliseconds, sizes are bytes. */
export type TemplateInput = z.output<typeof templateSchema>;
