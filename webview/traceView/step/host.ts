import type { BlobRef, Place } from '../../../src/protocol/traceView.js';
import type { AnsiPalette } from '../../ansiView.js';

/** What the parts of a step ask of the page around them. */
export interface StepHost {
  readonly palette: AnsiPalette;
  /** What is searched for, in lower case; empty if nothing is. */
  readonly find: string;
  /** Bytes of a blob of the trace. */
  blob(ref: BlobRef, signal?: AbortSignal): Promise<Uint8Array>;
  /** Opens a text of the step in an editor. */
  openText(place: Place): void;
  /** Opens an address outside, once a person has agreed. */
  browse(url: string): void;
  /** Draws again: something that is loaded on first use is there. */
  redraw(): void;
}
