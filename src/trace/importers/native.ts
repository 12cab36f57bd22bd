import { NativeReader } from '../native/reader.js';
import type { TraceFormat } from './format.js';

export const native: TraceFormat = {
  id: 'native',
  title: 'RL Sandboxes trace',
  recognises: ({ name, head }) => /^\s*\{\s*"type"\s*:\s*"start"\s*,\s*"version"\s*:\s*\d/.test(head.toString('latin1', 0, 200)) || (name === 'trace.jsonl' && /^\{"type":"/.test(head.toString('latin1', 0, 200))),
  open: (probe, bytes) => NativeReader.open(probe.file, bytes!),
};
