/** Traces made up from a number: the same each time, with some of everything that the view has to show. */
import type { BlobRef, Part, StepDetail, StepKind, StepSummary, TimelineBin, TraceHead } from '../../../src/protocol/traceView.js';

export const STARTED = Date.UTC(2026, 10, 29, 16, 2);

/** What a trace is of: an agent that repairs code, or a policy that balances a pole, each step with a frame. */
export type Story = 'repair' | 'pole';

const term = (text: string): Part => ({ type: 'terminal', text });
const said = (text: string): Part => ({ type: 'text', text });

const PYTEST = `\x1b[1m============================= test session starts ==============================\x1b[0m
platform linux -- Python 3.12.3, pytest-8.3.3
rootdir: /workspace
collected 6 items

tests/test_interval.py \x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m\x1b[33ms\x1b[0m\x1b[31mF\x1b[0m                                           \x1b[31m[100%]\x1b[0m

=================================== FAILURES ===================================
\x1b[31m\x1b[1m__________________________ test_empty_interval ___________________________\x1b[0m

    \x1b[0m\x1b[94mdef\x1b[39;49;00m\x1b[90m \x1b[39;49;00m\x1b[92mtest_empty_interval\x1b[39;49;00m():
>       \x1b[94massert\x1b[39;49;00m mean(Interval(\x1b[94m3\x1b[39;49;00m, \x1b[94m3\x1b[39;49;00m)) == \x1b[94m3\x1b[39;49;00m

tests/test_interval.py:14:
\x1b[1m\x1b[31msrc/interval.py\x1b[0m:9: in mean
    return self.total / (self.end - self.start)
\x1b[1m\x1b[31mE   ZeroDivisionError: division by zero\x1b[0m
\x1b[36m\x1b[1m=========================== short test summary info ============================\x1b[0m
\x1b[31mFAILED\x1b[0m tests/test_interval.py::\x1b[1mtest_empty_interval\x1b[0m - ZeroDivisionError: division by zero
\x1b[31m==================== \x1b[31m\x1b[1m2 failed\x1b[0m, \x1b[32m3 passed\x1b[0m, \x1b[33m1 skipped\x1b[0m\x1b[31m in 0.42s\x1b[0m\x1b[31m ====================\x1b[0m
`;

const DIFF = `--- a/src/interval.py
+++ b/src/interval.py
@@ -5,7 +5,9 @@ class Interval:
         self.end = end
 
     def mean(self):
-        return self.total / (self.end - self.start)
+        if self.end == self.start:
+            return self.start
+        return self.total / (self.end - self.start)
 
     def __contains__(self, value):
         return self.start <= value < self.end
`;

const REQUEST = {
  model: 'qwen3-coder-30b',
  messages: [
    { role: 'system', content: 'You repair code. Use the tools; submit when the tests pass.' },
    { role: 'user', content: 'The tests of `src/interval.py` fail. Don\'t change the tests!' },
  ],
  temperature: 0.2,
  max_tokens: 2048,
  tools: [{ type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: { command: { type: 'string' } } } } }],
};

type Made = Omit<StepDetail, 'index' | 'label' | 'at'>;

const model = (text: string, more: Partial<Made> = {}): Made => ({
  source: 'agent',
  kind: 'model',
  title: text.split('\n')[0]!.slice(0, 120),
  ms: 2140,
  message: [said(text)],
  tokens: { prompt: 1204, completion: 311, cached: 1024 },
  cost: 0.0042,
  model: { url: 'http://localhost:8000/v1/chat/completions', model: 'qwen3-coder-30b', request: REQUEST, finishReason: 'tool_calls' },
  ...more,
});

const bash = (command: string, output: string, exitCode = 0, ms = 320): Made => ({
  source: 'agent',
  kind: 'tool',
  title: `bash  ${command.split('\n')[0]}`,
  ms,
  ...(exitCode !== 0 && { error: `exit ${exitCode}` }),
  calls: [{ id: 'c1', name: 'bash', arguments: { command }, result: [term(output)], exitCode, ms, ...(exitCode !== 0 && { error: `exit ${exitCode}` }) }],
});

const REPAIR: readonly Made[] = [
  { source: 'system', kind: 'message', title: 'You repair code. Use the tools; submit when the tests pass.', message: [said('You repair code. Use the tools; submit when the tests pass.\n\nRules:\n\n1. Never change a test.\n2. Run `pytest -q` before you submit.\n3. Keep the public interface.')] },
  {
    source: 'user',
    kind: 'message',
    title: 'The tests of src/interval.py fail.',
    message: [said('The tests of `src/interval.py` fail. Find out **why**, and repair the code.\n\n| file | what |\n|---|---|\n| `src/interval.py` | the class |\n| `tests/test_interval.py` | do not touch |\n\nSee [the manual](https://docs.python.org/3/library/statistics.html) for what a mean is.')],
  },
  model('I will look at what there is before I change anything.', { ms: 1840, reasoning: [said('The task names two files. The tests fail, so first run them and read the message; then read the class.')] }),
  bash('ls -la && cat src/interval.py', 'total 20\ndrwxr-xr-x 4 agent agent 4096 Nov 29 16:02 \x1b[01;34m.\x1b[0m\n-rw-r--r-- 1 agent agent  412 Nov 29 16:02 README.md\ndrwxr-xr-x 2 agent agent 4096 Nov 29 16:02 \x1b[01;34msrc\x1b[0m\ndrwxr-xr-x 2 agent agent 4096 Nov 29 16:02 \x1b[01;34mtests\x1b[0m\n\nclass Interval:\n    def __init__(self, start, end):\n        self.start = start\n        self.end = end\n\n    def mean(self):\n        return self.total / (self.end - self.start)\n', 0, 84),
  model('`mean` divides by the length of the interval, which is 0 where both ends are the same. Let me see the tests fail.', { ms: 2410 }),
  bash('pytest -q', PYTEST, 1, 3210),
  model('As expected: `ZeroDivisionError` in `mean`. I handle the empty interval:\n\n```python\ndef mean(self):\n    # An interval of length 0 has one point.\n    if self.end == self.start:\n        return self.start\n    return self.total / (self.end - self.start)\n```', { ms: 4120 }),
  {
    source: 'agent',
    kind: 'tool',
    title: 'edit  src/interval.py',
    ms: 41,
    calls: [
      {
        id: 'c2',
        name: 'edit',
        arguments: { path: 'src/interval.py', old_string: '    def mean(self):\n        return self.total / (self.end - self.start)', new_string: '    def mean(self):\n        if self.end == self.start:\n            return self.start\n        return self.total / (self.end - self.start)' },
        result: [said('edited 1 place')],
        ms: 41,
      },
    ],
    files: [{ path: 'src/interval.py', change: 'modified', added: 3, removed: 1, diff: DIFF }, { path: 'src/__pycache__/interval.cpython-312.pyc', change: 'added' }],
  },
  bash('pytest -q tests/ --maxfail=1', '\x1b[32m.....\x1b[0m\x1b[33ms\x1b[0m\x1b[31mF\x1b[0m\n\x1b[31mFAILED\x1b[0m tests/test_interval.py::test_mean - AttributeError: \'Interval\' object has no attribute \'total\'\n', 1, 2950),
  bash('python - <<\'EOF\'\nimport json\nprint(json.dumps({"seed": 17, "n": 3}))\nEOF', '{"seed": 17, "n": 3}\n', 0, 120),
  { source: 'environment', kind: 'error', title: 'max_turns: the agent had 12 turns', error: 'max_turns', truncated: true, observation: [said('The agent had all of its 12 turns.')], ms: 0 },
  {
    source: 'verifier',
    kind: 'verifier',
    title: 'verifier  0 of 6 tests passed',
    ms: 1850,
    reward: 0.1,
    components: [
      { name: 'tests_passed', weight: 0.8, value: 0, detail: '0 of 6 tests passed' },
      { name: 'style', weight: 0.2, value: 0.5, detail: 'ruff found 2 problems' },
    ],
    observation: [term('collected 6 items\n0 passed, 6 failed\n')],
    info: { exit_code: 1, junit: { tests: 6, failures: 6 }, seed: 17 },
  },
];

function poleStep(index: number, total: number): Made {
  if (index === 0) return { source: 'environment', kind: 'reset', title: 'reset  seed 17', ms: 12, observation: [{ type: 'json', value: state(0) }], frames: [frame(0)], image: true };
  const fell = index === total - 1;
  return {
    source: 'agent',
    kind: 'action',
    title: `${index % 3 === 0 ? 'left' : 'right'}  ${index % 3 === 0 ? 0 : 1}`,
    ms: 3 + (index % 5),
    reward: 1,
    terminated: fell,
    truncated: false,
    action: [{ type: 'json', value: index % 3 === 0 ? 0 : 1 }],
    observation: [{ type: 'json', value: state(index) }],
    info: { angle: Number((Math.sin(index / 9) / 5).toFixed(4)) },
    frames: [frame(index)],
    image: true,
  };
}

const state = (index: number) => [0.01 * index, 0.1, Math.sin(index / 9) / 5, -0.02].map((value) => Number(value.toFixed(5)));
const frame = (index: number): BlobRef => ({ blob: `frame-${index}`, mediaType: 'image/png', bytes: 4100 });

/** Whatever the length: a step by its number alone. */
function plainStep(index: number): Made {
  if (index % 5 === 0) return model(`I look at part ${index} of the log.`, { ms: 700 + (index % 900) });
  const failed = index % 1009 === 17;
  return bash(`grep -n "case ${index}" log.txt`, failed ? `grep: log.txt: no line ${index}\n` : `${index}:case ${index} is fine\n`, failed ? 2 : 0, 40 + (index % 60));
}

export interface MadeTrace {
  head(steps?: number): TraceHead;
  step(index: number): StepDetail;
  summary(index: number): StepSummary;
  timeline(bins: number, steps?: number): TimelineBin[];
}

export function madeTrace(story: Story, total: number): MadeTrace {
  const made = (index: number): Made => (story === 'pole' ? poleStep(index, total) : total <= REPAIR.length ? REPAIR[index]! : plainStep(index));
  const begins: number[] | undefined = total > 10_000 ? undefined : [0];
  for (let index = 0; begins && index < total; index++) begins.push(begins[index]! + (made(index).ms ?? 30));
  const begin = (index: number) => begins?.[index] ?? index * 100;
  const step = (index: number): StepDetail => ({ ...made(index), index, label: String(index), at: STARTED + begin(index) });
  const summary = (index: number): StepSummary => {
    const { source, kind, title, at, ms, reward, terminated, truncated, error, image, depth, label } = step(index);
    return { index, label, source, kind, title, at, ms, reward, terminated, truncated, error, image, depth };
  };
  return {
    step,
    summary,
    head: (steps = total) => ({
      format: 'native',
      title: story === 'pole' ? 'cartpole' : 'repair',
      agent: story === 'pole' ? 'random' : 'mini-agent 1.4',
      ...(story === 'repair' && { model: 'qwen3-coder-30b', tokens: { prompt: 14_820, completion: 3611 }, cost: 0.0412 }),
      seed: 17,
      sample: 2,
      steps,
      startedAt: STARTED,
      endedAt: STARTED + begin(total),
      reward: story === 'pole' ? total - 1 : 0.1,
      ...(story === 'repair' && { components: REPAIR.at(-1)!.components }),
      end: story === 'pole' ? { status: 'completed', reason: 'terminated' } : { status: 'truncated', reason: 'max_turns, the agent had 12 turns' },
      live: false,
      problems: [],
    }),
    timeline: (bins, steps = total) => {
      const count = Math.min(bins, steps);
      return Array.from({ length: count }, (_, bin) => {
        const first = Math.floor((bin * steps) / count);
        const last = Math.floor(((bin + 1) * steps) / count) - 1;
        let kind: StepKind = 'model';
        let error = false;
        for (let index = first; index <= Math.min(last, first + 20); index++) {
          const each = made(index);
          kind = each.kind;
          error ||= each.error !== undefined;
        }
        return { first, last, from: begin(first), to: begin(last + 1), kind, error, ...(story === 'pole' ? { reward: last } : last === total - 1 ? { reward: 0.1 } : { reward: 0 }) };
      });
    },
  };
}
