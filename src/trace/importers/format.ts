/** What a file format must give: how it is recognised, and a reader. */
import type { FileBytes } from '../bytes.js';
import type { Found } from '../json/scan.js';
import type { TraceReader } from '../model.js';

/** What is looked at to recognise a file: its name, and how it begins. */
export interface Probe {
  readonly file: string;
  readonly name: string;
  /** The file's first bytes; empty for a folder. */
  readonly head: Buffer;
  readonly folder: boolean;
  /** What stands first in a file of JSON: an object, a list, or something else. */
  readonly top: 'object' | 'list' | undefined;
  /** Members of the object that stands first, or of the first element of a list. */
  readonly keys: ReadonlyMap<string, Found>;
  /** Whether more follows the first value: lines of JSON. */
  readonly more: boolean;
}

export interface OpenOptions {
  /** Which trace of a file that holds several, from 0. */
  readonly member?: number;
  readonly signal?: AbortSignal;
}

export interface TraceFormat {
  readonly id: string;
  readonly title: string;
  /** Whether it is this format, by what the file begins with; a promise where more must be looked at. */
  recognises(probe: Probe): boolean | Promise<boolean>;
  /** Once it resolves the reader owns `bytes` and closes them. A folder comes without. */
  open(probe: Probe, bytes: FileBytes | undefined, options: OpenOptions): Promise<TraceReader>;
}

/** No known format, or nothing in it that could be read. */
export class TraceUnreadable extends Error {
  override readonly name = 'TraceUnreadable';
}

/** The trace that was asked for, of so many. */
export function memberOf(total: number, what: string, { member = 0 }: OpenOptions): number {
  if (total === 0) throw new TraceUnreadable(`the file holds no ${what}`);
  if (member >= total) throw new TraceUnreadable(`there is no ${what} ${member}: the file holds ${total}, from 0`);
  return member;
}
