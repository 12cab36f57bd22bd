/** A valid template file to the `Template` that the rest of the project uses: short forms written out, paths absolute. */
import path from 'node:path';
import { isRootFolder } from './paths.js';
import type { TemplateInput } from './schema.js';
import type { RewardComponentSpec, SeedSet, ServiceSpec, SetupStep, Template } from './template.js';
import type { DocumentPath } from './text.js';

type ComponentInput = Extract<TemplateInput['reward'], { type: string }>;
type Written = (path: DocumentPath) => string | undefined;

/** `written` gives a value as it stands in the file. */
export function assemble(input: TemplateInput, file: string, written: Written): Template {
  const directory = path.dirname(file);
  const at = (relative: string) => path.resolve(directory, relative);
  const imageAt = (image: string | undefined) => (image !== undefined && isRootFolder(image) ? at(image) : image);
  const { episode } = input;
  const components = reward(input.reward);
  return {
    file,
    directory,
    name: input.name,
    description: input.description,
    provider: input.provider,
    base: {
      ...(input.image !== undefined && { image: imageAt(input.image) }),
      ...(input.dockerfile !== undefined && { dockerfile: { file: at(input.dockerfile), context: path.dirname(at(input.dockerfile)) } }),
    },
    packages: input.packages ?? { apt: [], python: [] },
    resources: resources(input.resources),
    env: env(input.env, ['env'], written),
    secrets: secrets(input.secrets),
    files: (input.files ?? []).map(({ from, to }) => ({ from: at(from), to: finalPath(from, to) })),
    network: networks(input.network),
    isolation: input.isolation,
    ...(input.user !== undefined && { user: String(input.user) }),
    ...(input.read_only !== false && { writable: writable(input.read_only, components) }),
    services: (input.services ?? []).map(service),
    setup: (input.setup ?? []) as SetupStep[],
    episode: { run: episode.run, python: episode.python, timeoutMs: episode.timeout, seeds: seeds(episode.seeds), samples: episode.samples },
    task: input.task,
    policy: typeof input.policy === 'string' ? { name: input.policy } : input.policy,
    solution: input.solution,
    reward: components.map((component, index): RewardComponentSpec => {
      if (component.type === 'diff') return { ...component, expected: at(component.expected) };
      if (component.type !== 'sandbox') return component;
      return {
        ...component,
        image: imageAt(component.image),
        dockerfile: component.dockerfile === undefined ? undefined : at(component.dockerfile),
        resources: resources(component.resources),
        env: env(component.env, [...(Array.isArray(input.reward) ? ['reward', index] : ['reward']), 'env'], written),
        setup: component.setup as SetupStep[],
      };
    }),
    rewardRange: input.reward_range,
    artifacts: input.artifacts ?? [],
    maxCost: input.max_cost,
    keepWarmMs: input.keep_warm,
  };
}

function networks(input: TemplateInput['network']): Template['network'] {
  if (input === undefined) return { setup: 'full', episode: 'none' };
  const both = typeof input === 'string' ? input : input.allow && { allow: input.allow };
  return both ? { setup: both, episode: both } : (input as Template['network']);
}

/** A verifier has to leave its reward somewhere. */
function writable(readOnly: Exclude<TemplateInput['read_only'], false>, components: readonly ComponentInput[]): string[] {
  const folders = [...(readOnly === true ? [] : readOnly.except), ...components.flatMap((component) => (component.type === 'files' ? component.directory : []))];
  return [...new Set(folders.map((folder) => path.posix.normalize(`${folder}/`).slice(0, -1) || '/'))];
}

function service({ name, run, ready, timeout }: NonNullable<TemplateInput['services']>[number]): ServiceSpec {
  if (ready === undefined) return { name, run, timeoutMs: timeout };
  if (!('http' in ready)) return { name, run, ready, timeoutMs: timeout };
  const { port, pathname, search } = new URL(ready.http);
  return { name, run, ready: { http: { port: Number(port || 80), path: `${pathname}${search}` } }, timeoutMs: timeout };
}

/** The path that a file or folder gets: as with `cp`, a `to` that ends in `/` keeps the name. */
function finalPath(from: string, to: string): string {
  const normal = path.posix.normalize(to.endsWith('/') && !from.endsWith('/') ? `${to}${path.posix.basename(from)}` : to);
  return normal.length > 1 ? normal.replace(/\/$/, '') : normal;
}

function reward(input: TemplateInput['reward']): readonly ComponentInput[] {
  if (Array.isArray(input)) return input;
  if (typeof input !== 'string') return [input];
  const common = { weight: 1, timeout: 60_000 };
  return [input === 'files' ? { type: input, directory: '/logs/verifier', ...common } : { type: input, ...common }];
}

function resources(input: TemplateInput['resources']): Template['resources'] {
  if (!input) return {};
  const { gpu, ...rest } = input;
  if (gpu === undefined || gpu === 0) return rest;
  if (typeof gpu === 'object') {
    const { ids, ...more } = gpu;
    return { ...rest, gpu: ids ? { ...more, count: new Set(ids).size, ids: [...new Set(ids.map(String))] } : more };
  }
  return { ...rest, gpu: typeof gpu === 'number' || gpu === 'all' ? { count: gpu } : { count: 1, model: gpu } };
}

/** Numbers and booleans as written: `1.10` is not `1.1` in an environment. */
function env(input: TemplateInput['env'], at: DocumentPath, written: Written): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(input ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : (written([...at, name]) ?? String(value))]));
}

function secrets(input: TemplateInput['secrets']): Readonly<Record<string, string>> {
  if (Array.isArray(input)) return Object.fromEntries(input.map((name) => [name, name]));
  return Object.fromEntries(Object.entries(input ?? {}).map(([name, reference]) => [name, reference.slice('${env:'.length, -1)]));
}

function seeds(input: TemplateInput['episode']['seeds']): SeedSet {
  if (typeof input === 'number') return { first: 0, last: input - 1 };
  if (typeof input !== 'string') return { list: input };
  const [first, last] = input.split('..').map(Number);
  return { first: first!, last: last! };
}
