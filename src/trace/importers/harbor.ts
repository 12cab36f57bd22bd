/**
 * Harbor's folders (https://github.com/harbor-framework/harbor): a trial has `result.json`, `agent/trajectory.json` (ATIF) and `verifier/`;
 * one of several steps has them in `steps/<name>/`; a job is a folder of trials, each of which is a member.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ChainReader } from '../chain.js';
import { FileBytes } from '../bytes.js';
import { DocumentReader, type DocumentHead } from '../document.js';
import { parseJson } from '../json/tolerant.js';
import type { TraceEnd, TraceReader } from '../model.js';
import { messageOf } from '../stepReader.js';
import { isRecord, numberOf, textOf, titleOf } from '../text.js';
import { isAtif, readAtif } from './atif.js';
import { memberOf, TraceUnreadable, type OpenOptions, type Probe, type TraceFormat } from './format.js';
import { timeOf } from './messages.js';
import { addVerdict, rewardsOf, type Rewards } from './rewards.js';

type Json = Record<string, unknown>;
const MOST_RESULT = 64 << 20;

async function readObject(file: string): Promise<Json | undefined> {
  if ((await stat(file).catch(() => undefined))?.isFile() !== true) return undefined;
  if ((await stat(file)).size > MOST_RESULT) throw new Error(`${basename(file)} is larger than ${MOST_RESULT} bytes`);
  const value = parseJson(await readFile(file, 'utf8'));
  return isRecord(value) ? value : undefined;
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, () => false);

/** The reward of a folder `verifier/`: `reward.json`, else `reward.txt`; `undefined` without either. */
async function verifierRewards(folder: string): Promise<Rewards | undefined> {
  const text = await readFile(join(folder, 'reward.json'), 'utf8').catch(() => undefined);
  if (text !== undefined) return rewardsOf(parseJson(text));
  const plain = (await readFile(join(folder, 'reward.txt'), 'utf8').catch(() => undefined))?.trim();
  return plain === undefined ? undefined : { reward: plain === '' ? null : (numberOf(Number(plain)) ?? null) };
}

function endOf(result: Json): TraceEnd {
  const exception = isRecord(result.exception_info) ? result.exception_info : undefined;
  if (exception) {
    const type = textOf(exception.exception_type) ?? 'exception';
    const reason = titleOf(`${type}: ${textOf(exception.exception_message) ?? ''}`);
    return { status: type === 'AgentTimeoutError' ? 'truncated' : 'error', reason };
  }
  return result.finished_at ? { status: 'completed' } : { status: 'unknown', reason: 'the trial has no time of its end' };
}

function aboutTrial(folder: string, result: Json): Partial<DocumentHead> {
  const agent = isRecord(result.agent_info) ? result.agent_info : {};
  const model = isRecord(agent.model_info) ? agent.model_info : {};
  const used = isRecord(result.agent_result) ? result.agent_result : {};
  const rewards = isRecord(result.verifier_result) ? rewardsOf(result.verifier_result.rewards) : undefined;
  const [prompt, completion, cached] = [numberOf(used.n_input_tokens), numberOf(used.n_output_tokens), numberOf(used.n_cache_tokens)];
  return {
    format: 'harbor',
    title: textOf(result.trial_name) ?? basename(folder),
    task: textOf(result.task_name),
    ...(agent.name !== undefined && { agent: [agent.name, agent.version].filter((part) => typeof part === 'string').join(' ') }),
    ...(typeof model.name === 'string' && { model: [model.provider, model.name].filter((part) => typeof part === 'string').join('/') }),
    startedAt: timeOf(result.started_at),
    endedAt: timeOf(result.finished_at),
    ...((prompt !== undefined || completion !== undefined) && { tokens: { prompt, completion, ...(cached !== undefined && { cached }) } }),
    ...(numberOf(used.cost_usd) !== undefined && { cost: numberOf(used.cost_usd) }),
    ...(rewards ?? { reward: null }),
    end: endOf(result),
    extra: { task_id: result.task_id, source: result.source, task_checksum: result.task_checksum, exception_info: result.exception_info ?? undefined },
  };
}

async function openTrial(folder: string, { signal }: OpenOptions, more: Partial<DocumentHead> = {}): Promise<TraceReader> {
  const problems: string[] = [];
  let result: Json = {};
  try {
    result = (await readObject(join(folder, 'result.json'))) ?? (problems.push('the trial has no result.json: it did not end'), {});
  } catch (error) {
    problems.push(`result.json cannot be read: ${messageOf(error)}`);
  }
  const about = aboutTrial(folder, result);
  const own = about.reward === null && !about.components ? await verifierRewards(join(folder, 'verifier')).catch((error: unknown) => (problems.push(`the reward file cannot be read: ${messageOf(error)}`), undefined)) : undefined;
  const head = { ...about, ...own, ...more };
  const parts = await trajectories(folder, result);
  const readers: DocumentReader[] = [];
  for (const { name, file } of parts) {
    const bytes = await FileBytes.open(file).catch(() => undefined);
    if (!bytes) problems.push(`${name ? `step ${name}` : 'the trial'} has no agent/trajectory.json`);
    else
      try {
        readers.push(await readAtif(file, bytes, head, signal));
      } catch (error) {
        await bytes.close();
        problems.push(`${name ? `the trajectory of step ${name}` : 'agent/trajectory.json'} cannot be read: ${messageOf(error)}`);
      }
    const step = results(result).find((one) => one.step_name === name);
    if (step && readers.length) addResult(readers.at(-1)!, name!, step);
  }
  if (!readers.length) {
    if (!Object.keys(result).length) throw new TraceUnreadable(`${folder} holds no trial that can be read: ${problems.join('; ')}`);
    readers.push(new DocumentReader({ format: 'harbor', title: basename(folder), end: endOf(result), ...head }));
  }
  if (parts.length === 1 && Object.keys(result).length) addResult(readers[0]!, 'reward', result);
  for (const problem of problems) readers[0]!.problem(problem);
  for (const reader of readers) reader.ready();
  return readers.length === 1 ? readers[0]! : new ChainReader(readers);
}

const results = (result: Json): Json[] => (Array.isArray(result.step_results) ? result.step_results.filter(isRecord) : []);

/** Where the trajectories lie: in the trial, or in those of its steps, in the order of `step_results`. */
async function trajectories(folder: string, result: Json): Promise<{ name?: string; file: string }[]> {
  const whole = join(folder, 'agent', 'trajectory.json');
  const named = results(result).flatMap((step) => (typeof step.step_name === 'string' ? [step.step_name] : []));
  const found = await readdir(join(folder, 'steps')).catch(() => [] as string[]);
  const names = [...named.filter((name) => found.includes(name)), ...found.filter((name) => !named.includes(name)).sort()];
  return names.length && !(await exists(whole)) ? names.map((name) => ({ name, file: join(folder, 'steps', name, 'agent', 'trajectory.json') })) : [{ file: whole }];
}

/** The verifier's word as the last step. */
function addResult(reader: DocumentReader, label: string, result: Json): void {
  const exception = isRecord(result.exception_info) ? result.exception_info : undefined;
  const rewards = isRecord(result.verifier_result) ? rewardsOf(result.verifier_result.rewards) : undefined;
  if (!rewards && !exception) return;
  const verifier = isRecord(result.verifier) ? result.verifier : {};
  const [from, to] = [timeOf(verifier.started_at), timeOf(verifier.finished_at)];
  const traceback = textOf(exception?.exception_traceback);
  addVerdict(reader, {
    label,
    ...(from !== undefined && { at: from }),
    ...(from !== undefined && to !== undefined && { ms: to - from }),
    ...rewards,
    ...(exception && { error: textOf(exception.exception_type) ?? 'exception', title: titleOf(`${textOf(exception.exception_type) ?? 'exception'}: ${textOf(exception.exception_message) ?? ''}`) }),
    ...(traceback && { observation: [{ type: 'terminal', text: traceback }] }),
    info: exception ?? result.verifier_result,
  });
}

const isTrial = async (folder: string): Promise<boolean> => (await exists(join(folder, 'agent'))) || (await exists(join(folder, 'steps'))) || (await exists(join(folder, 'trial.log'))) || (await exists(join(folder, 'exception.txt')));

async function trialsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
  const trials: string[] = [];
  for (const name of names) if (await isTrial(join(folder, name))) trials.push(name);
  return trials;
}

/** The folder of the trial or the job that a file or a folder stands for. */
function folderOf({ file, name, folder }: Probe): string {
  if (folder) return file;
  return name === 'trajectory.json' && basename(dirname(file)) === 'agent' ? dirname(dirname(file)) : dirname(file);
}

export const harbor: TraceFormat = {
  id: 'harbor',
  title: 'Harbor job or trial',
  async recognises(probe) {
    const { folder, name, keys } = probe;
    const home = folderOf(probe);
    if (folder) return (await isTrial(home)) || (await trialsOf(home)).length > 0;
    if (name === 'result.json') return keys.has('trial_name') || (keys.has('stats') && keys.has('n_total_trials')) || (keys.has('stats') && keys.has('started_at'));
    return name === 'trajectory.json' && home !== dirname(probe.file) && (await exists(join(home, 'result.json'))) && isAtif(keys);
  },
  async open(probe, bytes, options) {
    const home = folderOf(probe);
    const single = await isTrial(home);
    const trials = single ? [] : await trialsOf(home);
    const member = single ? 0 : memberOf(trials.length, 'trial', options);
    const members = trials.length > 1 ? { members: { selected: member, names: trials, total: trials.length } } : {};
    const reader = await openTrial(single ? home : join(home, trials[member]!), options, members);
    await bytes?.close();
    return reader;
  },
};
