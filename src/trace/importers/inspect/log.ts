/** Inspect's `.eval` files (ZIP: `_recorders/eval.py`, `_recorders/chunked/format.py`) and JSON logs. Each sample is a member. */
import type { Bytes, FileBytes } from '../../bytes.js';
import { readJson } from '../../json/prune.js';
import { Outline } from '../../json/scan.js';
import type { DocumentReader } from '../../document.js';
import type { TraceReader } from '../../model.js';
import { messageOf } from '../../stepReader.js';
import { compact, isRecord, textOf, titleOf } from '../../text.js';
import { openEntry, readDirectory, type ZipEntry } from '../../zip.js';
import { memberOf, type OpenOptions, type TraceFormat } from '../format.js';
import { groupMessages } from '../messages.js';
import { componentsOf, type Place } from './pools.js';
import { eventsIn, factPatterns, readSample, wholeSample, type SampleParts } from './sample.js';

const MOST_NAMES = 1000;
const MOST_FACTS = 64 << 20;

/** What a log says of all its samples. */
interface About {
  readonly version?: string;
  readonly task?: string;
  readonly model?: string;
  readonly status?: string;
}

async function aboutOf(bytes: Bytes, span: { start: number; end: number }, signal?: AbortSignal): Promise<About> {
  const outline = await Outline.of(bytes, span, ['version', 'status', 'eval.task', 'eval.model'], signal);
  return { version: compact(outline.value('version') ?? '1'), task: outline.text('eval.task'), model: outline.text('eval.model'), status: outline.text('status') };
}

const headOf = ({ version, task, model, status }: About, selected: number, names: readonly string[], total: number): Parameters<typeof readSample>[1] => ({
  format: 'inspect',
  version,
  task,
  model,
  logStatus: status,
  ...(total > 1 && { members: { selected, names, total } }),
});

const nameOf = (id: unknown, epoch: unknown, scores: unknown): string => {
  const score = componentsOf(scores).map(({ name, value, detail }) => `${name} ${value ?? detail ?? 'none'}`).join(', ');
  return titleOf(`${compact(id)} · epoch ${compact(epoch ?? 1)}${score ? ` · ${score}` : ''}`, 120);
};

class EvalFile {
  private constructor(
    private readonly zip: FileBytes,
    private readonly entries: ReadonlyMap<string, ZipEntry>,
    private readonly signal: AbortSignal | undefined,
  ) {}

  static async open(zip: FileBytes, signal?: AbortSignal): Promise<EvalFile> {
    return new EvalFile(zip, await readDirectory(zip), signal);
  }

  async read(options: OpenOptions): Promise<TraceReader> {
    const problems: string[] = [];
    const samples = this.samples();
    const selected = memberOf(samples.length, 'sample', options);
    const about = await this.about(problems);
    const names = await this.names(samples, problems);
    const held: Bytes[] = [];
    let reader: DocumentReader;
    try {
      const { name, chunked } = samples[selected]!;
      reader = await readSample(chunked ? await this.chunks(name, held, problems) : await this.whole(name, held), headOf(about, selected, names, samples.length));
    } catch (error) {
      for (const bytes of held) await bytes.close();
      throw error;
    }
    for (const problem of problems) reader.problem(problem);
    for (const bytes of held) reader.hold(bytes);
    reader.hold(this.zip);
    return reader.ready();
  }

  /** Samples by the names of their entries, in the order in which a person counts. */
  private samples(): { name: string; chunked: boolean }[] {
    const names = new Map<string, boolean>();
    for (const entry of this.entries.keys()) {
      const match = /^samples\/([^/]+?)(?:\.json|\/sample\.json)$/.exec(entry);
      if (match) names.set(match[1]!, entry.endsWith('/sample.json'));
    }
    const collator = new Intl.Collator('en', { numeric: true });
    return [...names].sort(([a], [b]) => collator.compare(a, b)).map(([name, chunked]) => ({ name, chunked }));
  }

  private async about(problems: string[]): Promise<About> {
    for (const name of ['header.json', '_journal/start.json']) {
      const entry = this.entries.get(name);
      if (!entry) continue;
      if (name !== 'header.json') problems.push('the log has no header.json: the evaluation did not end');
      const bytes = await openEntry(this.zip, entry, this.signal);
      const about = await aboutOf(bytes, { start: 0, end: bytes.size }, this.signal).finally(() => bytes.close());
      return name === 'header.json' ? about : { ...about, status: about.status ?? 'started' };
    }
    problems.push('the log has neither a header.json nor a journal');
    return {};
  }

  /** What the summaries say of each sample; else the name of its entry. */
  private async names(samples: readonly { name: string }[], problems: string[]): Promise<string[]> {
    const known = new Map<string, string>();
    const sources = this.entries.has('summaries.json') ? ['summaries.json'] : [...this.entries.keys()].filter((name) => /^_journal\/summaries\/\d+\.json$/.test(name));
    for (const source of sources)
      try {
        for (const summary of await this.json(source)) if (isRecord(summary)) known.set(`${compact(summary.id)}_epoch_${compact(summary.epoch)}`, nameOf(summary.id, summary.epoch, summary.scores));
      } catch (error) {
        problems.push(`${source} cannot be read: ${messageOf(error)}`);
      }
    return samples.slice(0, MOST_NAMES).map(({ name }) => known.get(name) ?? name);
  }

  private async json(name: string): Promise<unknown[]> {
    const bytes = await openEntry(this.zip, this.entries.get(name)!, this.signal);
    try {
      const { value } = await readJson(bytes, { start: 0, end: bytes.size }, { whole: MOST_FACTS });
      return Array.isArray(value) ? (value as unknown[]) : [];
    } finally {
      await bytes.close();
    }
  }

  private async whole(name: string, held: Bytes[]): Promise<SampleParts> {
    const bytes = await openEntry(this.zip, this.entries.get(`samples/${name}.json`)!, this.signal);
    held.push(bytes);
    return wholeSample(bytes, { start: 0, end: bytes.size }, this.signal);
  }

  /** The lists of a sample in chunks, each in an entry that is named by the number of its first item. */
  private async chunks(name: string, held: Bytes[], problems: string[]): Promise<SampleParts> {
    const read = async (entry: string, patterns: readonly string[]): Promise<{ bytes: Bytes; outline: Outline } | undefined> => {
      try {
        const bytes = await openEntry(this.zip, this.entries.get(entry)!, this.signal);
        held.push(bytes);
        return { bytes, outline: await Outline.of(bytes, { start: 0, end: bytes.size }, patterns, this.signal) };
      } catch (error) {
        problems.push(`${entry} cannot be read: ${messageOf(error)}`);
        return undefined;
      }
    };
    const listed = async (list: string, patterns: readonly string[]): Promise<{ first: number; bytes: Bytes; outline: Outline }[]> => {
      const pattern = new RegExp(`^${list}/(\\d+)\\.json$`);
      const prefix = `samples/${name}/`;
      const firsts = [...this.entries.keys()].flatMap((entry) => (entry.startsWith(prefix) ? (pattern.exec(entry.slice(prefix.length))?.[1] ?? []) : [])).map(Number).sort((a, b) => a - b);
      const result = [];
      for (const first of firsts) {
        const chunk = await read(`${prefix}${list}/${first}.json`, patterns);
        if (chunk) result.push({ first, ...chunk });
      }
      return result;
    };
    const facts = await read(`samples/${name}/sample.json`, factPatterns);
    if (!facts) throw new Error(`the sample ${name} cannot be read`);
    const events = await listed('events', ['*', '*.event']);
    const messages = await listed('messages', ['*', '*.role']);
    const attachments = new Map<string, Place>();
    for (const { first, bytes, outline } of await listed('attachments', ['*'])) for (const [index, { start, end }] of outline.all('*').entries()) attachments.set(String(first + index), { bytes, start, end });
    return {
      facts: facts.outline,
      bytes: facts.bytes,
      events: events.flatMap(({ bytes, outline }) => eventsIn(outline, '', bytes)),
      messages: messages.flatMap(({ bytes, outline }) => groupMessages(outline, '').map((group) => ({ ...group, bytes }))),
      attachments,
      pool: messages.flatMap(({ bytes, outline }) => outline.all('*').map(({ start, end }) => ({ bytes, start, end }))),
    };
  }
}

async function readJsonLog(bytes: FileBytes, options: OpenOptions): Promise<TraceReader> {
  const { signal } = options;
  const span = { start: 0, end: bytes.size };
  const outline = await Outline.of(bytes, span, ['', 'samples.*', 'samples.*.id', 'samples.*.epoch', 'samples.*.scores'], signal);
  const samples = outline.all('samples.*');
  const selected = memberOf(samples.length, 'sample', options);
  const scores = outline.all('samples.*.scores');
  const by = (key: string): Map<number | undefined, unknown> => new Map(outline.all(`samples.*.${key}`).map(({ indexes, value }) => [indexes[0], value]));
  const [ids, epochs] = [by('id'), by('epoch')];
  const names: string[] = [];
  for (let index = 0; index < Math.min(samples.length, MOST_NAMES); index += 1) {
    const found = scores.find(({ indexes }) => indexes[0] === index);
    names.push(nameOf(ids.get(index) ?? index, epochs.get(index), found && (await readJson(bytes, found)).value));
  }
  const reader = await readSample(await wholeSample(bytes, samples[selected]!, signal), headOf(await aboutOf(bytes, span, signal), selected, names, samples.length));
  if (!outline.whole) reader.problem('the log ends in the middle: samples may be missing');
  reader.hold(bytes);
  return reader.ready();
}

const isZip = (head: Buffer): boolean => head.length >= 4 && head.readUInt32LE(0) === 0x04034b50;

export const inspect: TraceFormat = {
  id: 'inspect',
  title: 'Inspect log',
  recognises: ({ head, name, keys, more }) => (isZip(head) && (/\.eval$/i.test(name) || /^(header\.json|_journal\/|samples\/)/.test(head.toString('latin1', 30, 60)))) || (!more && keys.get('eval')?.type === 'object' && (keys.has('status') || keys.has('samples') || textOf(keys.get('version')?.value) !== undefined)),
  async open({ head }, bytes, options) {
    return isZip(head) ? (await EvalFile.open(bytes!, options.signal)).read(options) : readJsonLog(bytes!, options);
  },
};
