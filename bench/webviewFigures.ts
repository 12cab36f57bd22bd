/** The run view over 20,000 and 100,000 episodes and the trace view over a million steps, measured in a real browser. */
import type { Figure } from './measure.js';
import { ms } from './measure.js';
import { measureRunEngine } from './runEngine.js';
import { measureTraceView } from './traceView.js';
import { measureRunView } from './webview.js';

export async function webview(): Promise<Figure[]> {
  const { firstPaintMs, longestFrameMs, frameWorkMs } = await measureRunView(20_000);
  // While its page comes up, a big run is read from disk.
  const engine = await measureRunEngine(100_000);
  const big = await measureRunView(100_000, { readsForMs: engine.open.wall, samples: 4 });
  const trace = await measureTraceView(1_000_000);
  return [
    { what: 'run view: first paint, 20,000 episodes', ours: ms(firstPaintMs), floor: '', ratio: '', target: '< 500 ms', met: firstPaintMs < 500 },
    { what: 'run view: longest frame while scrolling', ours: ms(longestFrameMs), floor: '16.7 ms', ratio: (longestFrameMs / 16.7).toFixed(1), target: '< 33 ms', met: longestFrameMs < 33 },
    { what: 'run view: processor time of a frame while scrolling', ours: `${frameWorkMs.toFixed(1)} ms`, floor: '', ratio: '', target: '', met: undefined },
    { what: 'run view: open, 100,000 episodes read from disk', ours: ms(big.firstPaintMs), floor: '', ratio: '', target: '< 1000 ms', met: big.firstPaintMs < 1000 },
    { what: 'the same: sort by any column, engine and page', ours: ms(big.sortMs), floor: '', ratio: '', target: '< 100 ms', met: big.sortMs < 100 },
    { what: 'the same: filter, engine and page', ours: ms(big.filterMs), floor: '', ratio: '', target: '< 100 ms', met: big.filterMs < 100 },
    { what: 'the same: longest frame while scrolling', ours: ms(big.longestFrameMs), floor: '16.7 ms', ratio: (big.longestFrameMs / 16.7).toFixed(1), target: '< 33 ms', met: big.longestFrameMs < 33 },
    { what: 'engine: two such runs compared seed by seed', ours: ms(engine.compare.wall), floor: '', ratio: '', target: '', met: undefined },
    { what: 'trace view: first step, 1,000,000 steps', ours: ms(trace.firstStepMs), floor: '', ratio: '', target: '< 1000 ms', met: trace.firstStepMs < 1000 },
    { what: 'trace view: any step', ours: ms(trace.anyStepMs), floor: '', ratio: '', target: '< 50 ms', met: trace.anyStepMs < 50 },
    { what: 'trace view: longest frame while scrolling', ours: ms(trace.longestFrameMs), floor: '16.7 ms', ratio: (trace.longestFrameMs / 16.7).toFixed(1), target: '< 33 ms', met: trace.longestFrameMs < 33 },
    { what: "trace view: memory of the page's script", ours: `${(trace.heapBytes / 2 ** 20).toFixed(1)} MB`, floor: '', ratio: '', target: '< 64 MB', met: trace.heapBytes < 64 * 2 ** 20 },
  ];
}
