/** What the page that compares two traces may send. Knows nothing of VS Code. */
import { MOST_ALIGNED_ROWS, type Side, type TraceDiffRequests } from '../../protocol/traceDiff.js';
import { isCount, isNothing, isOneOf, isPlain, isText, messageParser } from './parse.js';
import { isPlace } from './traceMessages.js';

const SIDES: readonly Side[] = ['a', 'b'];
const isStep = (params: Record<string, unknown>): boolean => isOneOf(params.side, SIDES) && isCount(params.step);

export const parseTraceDiffMessage = messageParser<TraceDiffRequests>({
  comparison: isNothing,
  rows: (params) => isPlain(params) && isCount(params.from) && isCount(params.to) && params.to >= params.from && params.to - params.from <= MOST_ALIGNED_ROWS,
  nextDifference: (params) => isPlain(params) && isCount(params.from) && (params.direction === 1 || params.direction === -1) && typeof params.actions === 'boolean',
  step: (params) => isPlain(params) && isStep(params),
  blob: (params) => isPlain(params) && isOneOf(params.side, SIDES) && isText(params.ref),
  open: (params) => isPlain(params) && isStep(params) && isPlace(params.place),
  openDiff: (params) => isPlain(params) && isCount(params.a) && isCount(params.b),
  openTrace: (params) => isPlain(params) && isStep(params),
  browse: (params) => isPlain(params) && isText(params.url),
});
