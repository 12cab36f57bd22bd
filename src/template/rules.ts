/**
 * What one key of a template says about another. The rules look at the value as written, so that they also speak
 * when something else in the file is wrong.
 */
import { isOwnFolder, leavesFolder } from './paths.js';
import type { Finding } from './issues.js';
import { MAX_EPISODES } from './schema.js';
import { formatPath, quoteName, quoteValue, safe, type DocumentPath } from './text.js';

type Map = Readonly<Record<string, unknown>>;
type Report = (path: DocumentPath, message: string, at?: 'key' | 'value', lacks?: readonly string[]) => void;

const isMap = (value: unknown): value is Map => value !== null && typeof value === 'object' && !Array.isArray(value);
const map = (value: unknown): Map => (isMap(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export function checkRules(value: unknown): Finding[] {
  const findings: Finding[] = [];
  const report: Report = (path, message, at = 'value', lacks) => findings.push({ path, message, at, lacks });
  const root = map(value);
  checkActor(root, report);
  atMostOne(root, [], 'image', 'dockerfile', report);
  list(root.setup).forEach((step, index) => exactlyOne(step, ['setup', index], report));
  if ('dockerfile' in root) insideFolder(root.dockerfile, ['dockerfile'], report);
  list(root.files).forEach((file, index) => {
    const { from } = map(file);
    insideFolder(from, ['files', index, 'from'], report);
    if (typeof from === 'string' && isOwnFolder(from)) report(['files', index, 'from'], `expected a file or folder beside the template, found ${quoteValue(from)}, which holds the template itself`);
  });
  if (isMap(root.network) && 'allow' in root.network) {
    for (const when of ['setup', 'episode'] as const) if (when in root.network) report(['network', when], `expected \`allow\` alone, which means both, or under \`setup\` and \`episode\`, found it beside ${quoteName(when)}`, 'key');
  }
  checkServices(root.services, report);
  checkGpu(map(root.resources).gpu, ['resources', 'gpu'], report);
  list(map(root.read_only).except).forEach((folder, index) => {
    if (typeof folder === 'string' && /^\/(|proc|sys|dev)(\/|$)/.test(folder.replace(/\/+/g, '/'))) report(['read_only', 'except', index], `expected a folder below the root and not of the kernel, found ${quoteValue(folder)}`);
  });
  checkVariables(root, report);
  checkSeeds(map(root.episode), report);
  checkReward(root.reward, report);
  checkReferences(value, [], report);
  return findings;
}

/** Who acts needs something to do. */
function checkActor(root: Map, report: Report): void {
  const { policy = 'script', episode, solution } = root;
  const name = isMap(policy) ? policy.name : policy;
  if (name === 'script') exactlyOne(episode, ['episode'], report);
  else if (isMap(episode)) atMostOne(episode, ['episode'], 'run', 'python', report);
  if (solution !== undefined) exactlyOne(solution, ['solution'], report);
  else if (name === 'oracle') report(['policy'], 'the policy `oracle` runs the reference solution: expected `solution` with `run` or `python`');
  if (isMap(policy) && policy.vector !== undefined && isMap(policy.actions) && 'command' in policy.actions) report(['policy', 'vector'], 'a program chooses for one environment at a time: expected `vector` without `actions: {command: ...}`', 'key');
  if (isMap(policy) && policy.vector !== undefined && policy.render !== undefined) report(['policy', 'render'], 'frames are kept of one environment at a time: expected `render` without `vector`', 'key');
  if (name === 'llm' && root.task === undefined) report(['policy'], 'the policy `llm` needs a `task`: what the model is asked to do');
  if (isMap(policy) && policy.max_cost !== undefined && policy.price === undefined) report(['policy', 'max_cost'], 'expected `price` beside `max_cost`: without it nothing has a cost');
}

function exactlyOne(value: unknown, path: DocumentPath, report: Report): void {
  if (!isMap(value)) return;
  const keys = ['run', 'python'].map((key) => formatPath([...path, key]));
  if ('run' in value && 'python' in value) report([...path, 'python'], 'expected one of `run` and `python`, found both', 'key');
  else if (!('run' in value) && !('python' in value)) report(path, `expected \`run\` or \`python\` in ${quoteName(formatPath(path))}, found neither`, 'key', keys);
}

function atMostOne(value: Map, path: DocumentPath, first: string, second: string, report: Report): void {
  if (first in value && second in value) report([...path, second], `expected at most one of ${quoteValue(first)} and ${quoteValue(second)}, found both`, 'key');
}

/** What a template needs lies in its folder, so that the folder can be moved, shared and trusted as a whole. */
function insideFolder(path: unknown, at: DocumentPath, report: Report): void {
  // A path with a backslash is refused by the schema.
  if (typeof path === 'string' && !path.includes('\\') && leavesFolder(path)) report(at, `expected a relative path inside the template's folder, found ${quoteValue(path)}`);
}

function checkGpu(gpu: unknown, path: DocumentPath, report: Report): void {
  const { ids, count, model } = map(gpu);
  if (ids !== undefined && (count ?? model) !== undefined) report([...path, 'ids'], 'expected `ids` without `count` and `model`: they say which devices, and so how many', 'key');
}

function checkServices(services: unknown, report: Report): void {
  const names = new Set<unknown>();
  list(services).forEach((service, index) => {
    const { name } = map(service);
    if (typeof name === 'string' && names.has(name)) report(['services', index, 'name'], `two services are named ${quoteName(name)}: expected another name for one of them`);
    names.add(name);
  });
}

function checkVariables(root: Map, report: Report): void {
  const env = Object.keys(map(root.env));
  env.forEach((name) => reserved(name, ['env', name], 'key', report));
  const named = new Set<string>();
  const secrets: [unknown, DocumentPath, 'key' | 'value'][] = Array.isArray(root.secrets)
    ? root.secrets.map((name, index) => [name, ['secrets', index], 'value'])
    : Object.keys(map(root.secrets)).map((name) => [name, ['secrets', name], 'key']);
  for (const [name, path, at] of secrets) {
    if (typeof name !== 'string') continue;
    reserved(name, path, at, report);
    if (named.has(name)) report(path, `the secret ${quoteName(name)} is named twice: expected it once`, at);
    else if (Object.hasOwn(map(root.env), name)) report(path, `the variable ${quoteName(name)} is also under \`env\`: expected it in one of the two`, at);
    named.add(name);
  }
}

function reserved(name: string, path: DocumentPath, at: 'key' | 'value', report: Report): void {
  if (/^RL_/.test(name)) report(path, `the variable ${quoteName(name)} is reserved: expected a name that does not start with \`RL_\``, at);
}

function checkSeeds(episode: Map, report: Report): void {
  const { seeds, samples } = episode;
  const range = typeof seeds === 'string' ? /^(\d+)\.\.(\d+)$/.exec(seeds) : null;
  const [first, last] = range ? [Number(range[1]), Number(range[2])] : [0, 0];
  if (range && !(Number.isSafeInteger(first) && Number.isSafeInteger(last))) return report(['episode', 'seeds'], `expected seeds of at most ${Number.MAX_SAFE_INTEGER}, found ${quoteValue(String(seeds))}`);
  if (range && first > last) return report(['episode', 'seeds'], `expected a range from low to high, found ${quoteValue(String(seeds))}`);
  const count = range ? last - first + 1 : Array.isArray(seeds) ? seeds.length : typeof seeds === 'number' ? seeds : 1;
  if (range && count > MAX_EPISODES) return report(['episode', 'seeds'], `expected at most ${MAX_EPISODES} seeds, found ${count}`);
  const episodes = count * (typeof samples === 'number' ? samples : 1);
  if (count <= MAX_EPISODES && episodes > MAX_EPISODES) report(['episode', 'samples'], `expected at most ${MAX_EPISODES} episodes, found ${count} seeds x ${safe(String(samples))} samples`);
}

function checkReward(reward: unknown, report: Report): void {
  const components: [Map, DocumentPath][] = Array.isArray(reward) ? reward.map((one, index) => [map(one), ['reward', index]]) : [[map(reward), ['reward']]];
  const names = new Set<string>();
  for (const [component, path] of components) {
    if ('run' in component && 'python' in component) exactlyOne(component, path, report);
    if (component.type === 'sandbox') {
      if (!('run' in component) && !('python' in component)) exactlyOne(component, path, report);
      atMostOne(component, path, 'image', 'dockerfile', report);
      list(component.setup).forEach((step, index) => exactlyOne(step, [...path, 'setup', index], report));
      Object.keys(map(component.env)).forEach((name) => reserved(name, [...path, 'env', name], 'key', report));
      insideFolder(component.dockerfile, [...path, 'dockerfile'], report);
      checkGpu(map(component.resources).gpu, [...path, 'resources', 'gpu'], report);
    }
    if (component.type === 'diff') insideFolder(component.expected, [...path, 'expected'], report);
    const name = component.name ?? component.type;
    if (typeof name !== 'string') continue;
    if (names.has(name)) report([...path, 'name' in component ? 'name' : 'type'], `two components are named ${quoteName(name)}: expected another \`name\` for one of them`);
    names.add(name);
  }
  const [first] = components;
  if (first && components.every(([component]) => component.weight === 0)) report([...first[1], 'weight'], 'expected a weight that is not 0: the reward would always be 0');
}

/** Only `secrets` are taken from the environment: elsewhere the value would end up in a file or a log. */
function checkReferences(value: unknown, path: DocumentPath, report: Report): void {
  if (typeof value === 'string') {
    const start = value.indexOf('${env:');
    if (start >= 0) report(path, `${quoteValue(value.slice(start).split('}', 1)[0]! + '}')} is allowed under \`secrets\` only: name the secret there and use its variable here`);
  } else if (Array.isArray(value)) value.forEach((item, index) => checkReferences(item, [...path, index], report));
  else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) if (!(path.length === 0 && key === 'secrets') && !(path.length === 1 && path[0] === 'policy' && (key === 'api_key' || key === 'base_url'))) checkReferences(item, [...path, key], report);
  }
}
