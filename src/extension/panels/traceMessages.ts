/** What the trace view may send. Knows nothing of VS Code. */
import { MOST_BINS, MOST_STEPS, type Place, type TraceViewRequests } from '../../protocol/traceView.js';
import { isCount, isNothing, isOneOf, isPlain, isText, messageParser } from './parse.js';

const DEEPEST_PLACE = 12;
/** A step that is copied as a whole, with its outputs. */
const LONGEST_COPY = 8 * 2 ** 20;

export const isPlace = (value: unknown): value is Place => Array.isArray(value) && value.length <= DEEPEST_PLACE && value.every((key) => isCount(key) || isText(key));

export const parseTraceMessage = messageParser<TraceViewRequests>({
  ready: (params) => isPlain(params) && (params.member === undefined || isCount(params.member)),
  keep: (params) => isPlain(params) && isText(params.state),
  refresh: (params) => isPlain(params) && typeof params.always === 'boolean',
  summaries: (params) => isPlain(params) && isCount(params.from) && isCount(params.to) && params.to >= params.from && params.to - params.from <= MOST_STEPS,
  step: (params) => isPlain(params) && isCount(params.step),
  raw: (params) => isPlain(params) && isCount(params.step),
  blob: (params) => isPlain(params) && isText(params.ref),
  timeline: (params) => isPlain(params) && isCount(params.bins) && params.bins >= 1 && params.bins <= MOST_BINS,
  nextError: (params) => isPlain(params) && Number.isSafeInteger(params.from) && (params.direction === 1 || params.direction === -1),
  search: (params) => isPlain(params) && isCount(params.search) && isText(params.text) && params.text !== '',
  endSearch: isNothing,
  open: (params) => isPlain(params) && isCount(params.step) && (params.place === undefined ? params.raw === true : isPlace(params.place)),
  copy: (params) => isPlain(params) && isText(params.text, LONGEST_COPY) && isText(params.what),
  copyLink: (params) => isPlain(params) && isCount(params.step) && isText(params.title),
  travel: (params) => isPlain(params) && isCount(params.step) && isOneOf(params.to, ['sandbox', 'fork']),
  browse: (params) => isPlain(params) && isText(params.url),
});
