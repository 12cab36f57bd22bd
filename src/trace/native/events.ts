/** The events of a native trace, one after the other, for who needs all of them once. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TraceEvent } from '../events.js';

/** A line that is no event ends it: it is torn, or the file is no native trace. Rejects with the system's error if there is no such file. */
export async function* readEvents(file: string): AsyncGenerator<TraceEvent> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      let event: TraceEvent;
      try {
        event = JSON.parse(line) as TraceEvent;
      } catch {
        return;
      }
      if (typeof event?.type !== 'string') return;
      yield event;
    }
  } finally {
    input.destroy();
  }
}
