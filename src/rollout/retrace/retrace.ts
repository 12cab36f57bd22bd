/** Takes the actions of a recorded trace again, and says at which step something else came of them first. */
import type { Content, MessageEvent, ModelEvent } from '../../trace/events.js';
import { readStored } from '../../trace/native/blobs.js';
import { readEvents } from '../../trace/native/events.js';
import { isBlob } from '../../trace/writer.js';
import { PolicyFailed } from '../policies/player.js';
import type { Stage } from '../stage.js';
import { actorFor, type Actor } from './actors.js';
import { differenceOf } from './difference.js';
import type { Past } from './past.js';

export interface Retraced {
  /** The first one: `difference: at step 3 standard output is "b", and was "a"`. */
  readonly difference?: string;
  /** Of a policy whose whole episode was one command. */
  readonly exitCode?: number;
  /** What a policy has to know that goes on from there. */
  readonly past: readonly Past[];
}

export interface RetraceOptions {
  /** Number of the last step to take; all of them if absent. */
  readonly to?: number;
  /** Called after each step with its number. */
  readonly onStep?: (step: number) => void;
  /** Whether an environment's process stays, with what it has come to. */
  readonly stay?: boolean;
  /** Whether prompts and replies of a model are recorded again, since the episode goes on with them. */
  readonly messages?: boolean;
}

/** Rejects with `PolicyFailed` if that is no trace that can be replayed, with an `EpisodeLimit`, the signal's reason or an error of the infrastructure. */
export async function retrace(stage: Stage, file: string, { to = Infinity, onStep, stay = false, messages = false }: RetraceOptions = {}): Promise<Retraced> {
  const load = (content: Content) => loadContent(content, file);
  const past: Past[] = [];
  let actor: Actor | undefined;
  let difference: string | undefined;
  try {
    for await (const event of readEvents(file)) {
      if (event.type === 'start') actor = actorFor(stage, event, load);
      if (!actor) break;
      if ((event.type === 'step' || event.type === 'model' || event.type === 'begin') && event.step > to) break;
      if (messages && (event.type === 'message' || event.type === 'model')) past.push(...(await sayAgain(stage, event, load)));
      if (event.type !== 'step') continue;
      if (event.lane !== undefined) throw new PolicyFailed('the trace is of a vector of environments, which cannot be replayed');
      const taken = await actor.take(event);
      past.push(...taken.past);
      const what = difference === undefined ? differenceOf(event, taken.result) : undefined;
      if (what !== undefined) {
        difference = `difference: at step ${event.step} ${what}`;
        stage.trace.note('warning', 'difference', what, event.step);
      }
      onStep?.(event.step);
      if (event.step === to) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new PolicyFailed(`there is no trace ${file}`);
    throw error;
  } finally {
    if (!stay) await actor?.close();
  }
  if (!actor) throw new PolicyFailed(`${file} is no native trace: it has no \`start\``);
  return { past, ...(difference === undefined ? {} : { difference }), ...(actor.exitCode === undefined ? {} : { exitCode: actor.exitCode }) };
}

/** Records what was said, without what it cost then. */
async function sayAgain({ trace }: Stage, event: MessageEvent | ModelEvent, load: (content: Content) => Promise<Content>): Promise<Past[]> {
  if (event.type === 'message') {
    const content = (await load(event.content)) as string;
    trace.write({ ...event, at: Date.now(), content: trace.content(content) });
    return [{ kind: 'said', role: event.role, content }];
  }
  if (event.reply === undefined) return [];
  const message = await load(event.reply);
  const { tokens: _, cost: __, ...call } = event;
  trace.write({ ...call, at: Date.now(), ms: 0, attempt: 1, reply: trace.content(message) });
  return [{ kind: 'reply', message, call }];
}

/** A value that may have been too big for its line. */
async function loadContent(content: Content, file: string): Promise<Content> {
  if (!isBlob(content)) return content;
  const text = Buffer.from(await readStored(file, content.blob)).toString();
  return content.mediaType === 'application/json' ? (JSON.parse(text) as Content) : text;
}
