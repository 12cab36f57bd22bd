/**
 * Transitions as Gymnasium's `step` gives them (https://gymnasium.farama.org/api/env/), one on each line. An episode ends where `terminated`,
 * `truncated` or the older `done` is true, or where `episode` changes; each is a member.
 */
import type { FileBytes } from '../bytes.js';
import { DocumentReader, type Mapper } from '../document.js';
import { eachLine } from '../lines.js';
import type { Part, TraceEnd } from '../model.js';
import { compact, isRecord, numberOf, textOf, titleOf } from '../text.js';
import { memberOf, type OpenOptions, type TraceFormat } from './format.js';
import { baseName } from './lineMembers.js';
import { timeOf } from './messages.js';

const OBSERVATIONS = ['next_observation', 'next_obs', 'next_state', 'observation', 'obs', 'state'];
const MOST_NAMES = 1000;
/** What ends an episode, or names it, as it stands in the bytes of a line. */
const MARKS = /"(?:terminated|truncated|done)"\s*:\s*(?:true|1\b)|"(?:episode|episode_id|episode_index)"\s*:\s*("[^"]{0,100}"|-?\d+)/g;

const truth = (value: unknown): boolean => value === true || value === 1;

const map: Mapper = (value, context) => {
  if (!isRecord(value)) throw new Error('the line is no object');
  const json = (one: unknown): Part[] => (one === undefined ? [] : [{ type: 'json', value: one }]);
  const reset = value.action === undefined || value.action === null;
  const name = OBSERVATIONS.find((key) => Object.hasOwn(value, key));
  const before = name?.startsWith('next_') ? OBSERVATIONS.slice(3).find((key) => Object.hasOwn(value, key)) : undefined;
  const done = truth(value.done) && value.terminated === undefined;
  const at = timeOf(value.timestamp ?? value.time);
  const info = { ...(isRecord(value.info) && value.info), ...(before !== undefined && { [before]: value[before] }) };
  return {
    label: titleOf(compact(value.step ?? value.t ?? value.timestep ?? context.index), 40),
    source: reset ? 'environment' : 'agent',
    kind: reset ? 'reset' : 'action',
    title: reset ? 'reset' : titleOf(compact(value.action)),
    ...(at !== undefined && { at }),
    reward: rewardIn(value.reward),
    terminated: truth(value.terminated) || done,
    truncated: truth(value.truncated),
    ...(isRecord(value.info) && typeof value.info.error === 'string' && { error: titleOf(value.info.error) }),
    action: reset ? [] : json(value.action),
    observation: name === undefined ? [] : json(value[name]),
    ...(Object.keys(info).length && { info }),
  };
};

/** A number, or a list of one: what arrays of NumPy become. */
const rewardIn = (value: unknown): number | null => numberOf(Array.isArray(value) && value.length === 1 ? (value as unknown[])[0] : value) ?? null;

async function open(file: string, bytes: FileBytes, options: OpenOptions): Promise<DocumentReader> {
  const episodes = await episodesOf(bytes, options.signal);
  const selected = memberOf(episodes.length, 'episode', options);
  const lines = await stepsOf(bytes, episodes[selected]!, options.signal);
  const names = episodes.slice(0, MOST_NAMES).map(({ name }) => name);
  const total = episodes.length;
  const last = await lastOf(bytes, lines.at(-1));
  const end: TraceEnd = truth(last.truncated) ? { status: 'truncated', reason: 'truncated' } : truth(last.terminated) || truth(last.done) ? { status: 'completed', reason: 'terminated' } : { status: 'unknown', reason: 'the last step neither terminates nor truncates' };
  const reader = new DocumentReader({ format: 'transitions', title: total > 1 ? `${baseName(file)} · ${names[selected] ?? `episode ${selected + 1}`}` : baseName(file), ...(textOf(last.env_id) && { task: textOf(last.env_id) }), end, ...(total > 1 && { members: { selected, names, total } }) }, { sumRewards: true });
  for (const line of lines) reader.add({ bytes, ...line, map, kind: 'action' });
  reader.hold(bytes);
  return reader.ready();
}

async function lastOf(bytes: FileBytes, line: { start: number; end: number } | undefined): Promise<Record<string, unknown>> {
  if (!line || line.end - line.start > 8 << 20) return {};
  try {
    const value: unknown = JSON.parse((await bytes.read(line.start, line.end)).toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

interface EpisodeSpan {
  readonly name: string;
  readonly start: number;
  end: number;
}

/** Where episodes begin and end, without parsing the lines: the keys that end one are looked for in their bytes. */
async function episodesOf(bytes: FileBytes, signal?: AbortSignal): Promise<EpisodeSpan[]> {
  const episodes: EpisodeSpan[] = [];
  let key: string | undefined;
  let over = true;
  const take = (line: { start: number; end: number }, text: string): void => {
    if (line.end === line.start) return;
    let ends = false;
    let named: string | undefined;
    for (const match of text.matchAll(MARKS)) {
      if (match[1] === undefined) ends = true;
      else named ??= match[1].replaceAll('"', '');
    }
    if (over || (named !== undefined && named !== key)) episodes.push({ name: `episode ${named ?? episodes.length + 1}`, start: line.start, end: line.end });
    else episodes.at(-1)!.end = line.end;
    key = named;
    over = ends;
  };
  const rest = await eachLine(bytes, { start: 0, end: bytes.size }, 64 << 10, (line) => take(line, line.head), signal);
  if (rest < bytes.size) take({ start: rest, end: bytes.size }, (await bytes.read(rest, Math.min(bytes.size, rest + (64 << 10)))).toString('latin1'));
  return episodes;
}

async function stepsOf(bytes: FileBytes, episode: EpisodeSpan, signal?: AbortSignal): Promise<{ start: number; end: number }[]> {
  const lines: { start: number; end: number }[] = [];
  const rest = await eachLine(bytes, episode, 0, ({ start, end }) => void (end > start && lines.push({ start, end })), signal);
  if (rest < episode.end) lines.push({ start: rest, end: episode.end });
  return lines;
}

export const transitions: TraceFormat = {
  id: 'transitions',
  title: 'Gymnasium transitions JSONL',
  recognises: ({ top, keys }) => top === 'object' && keys.has('reward') && OBSERVATIONS.concat('action').some((key) => keys.has(key)) && !keys.has('messages'),
  open: ({ file }, bytes, options) => open(file, bytes!, options),
};
