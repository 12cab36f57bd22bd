/** What a file format must give: how it is recognised, and a reader. */
import type { FileBytes } from '../bytes.js';
import type { TraceReader } from '../model.js';

/** What is looked at to recognise a file: its name, and how it begins. */
export interface Probe {
  readonly file: string;
  readonly name: string;
  /** The file's first bytes; empty for a folder. */
  readonly head: Buffer;
  readonly folder: boolean;
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
  /** The reader owns `bytes` and closes them, also if it cannot be opened. A folder comes without. */
  open(probe: Probe, bytes: FileBytes | undefined, options: OpenOptions): Promise<TraceReader>;
}
