/** A small task that can be failed, and a model that solves it by reading what its tests print. */
import type { Decision, Message, Request } from '../../support/modelServer.js';

/** The operator that is right depends on the seed. */
const OPERATORS = ['+', '*', '**', '//', '%'];

/** Text of a template without its policy: `/work/calc.py` subtracts, the tests want something else. */
export const REPAIR = `
# Python takes a module's cached code for current if its time in seconds and its size are: an edit may change neither.
env: { PYTHONDONTWRITEBYTECODE: 1 }
setup:
  - run: |
      mkdir -p /work /check
      printf 'def f(a, b):\\n    return a - b\\n' > /work/calc.py
      cat > /check/test.py <<'END'
      import os, sys
      sys.path.insert(0, '/work')
      from calc import f
      op = ${JSON.stringify(OPERATORS)}[int(os.environ['RL_SEED']) % ${OPERATORS.length}]
      pairs = [(7, 2), (5, 3), (9, 4)]
      passed = 0
      for a, b in pairs:
          want = eval(f'{a} {op} {b}')
          got = f(a, b)
          if got == want: passed += 1
          else: print(f'FAILED f({a}, {b}) is {got}, expected {want}')
      print(passed / len(pairs))
      sys.exit(passed < len(pairs))
      END
task: Make /check/test.py pass by changing /work/calc.py only.
episode: { timeout: 60s }
solution: { run: 'true' }
reward: { type: stdout, python: "import subprocess; print(subprocess.run(['python3', '/check/test.py'], capture_output=True, text=True).stdout.splitlines()[-1])" }
`;

const apply: Readonly<Record<string, (a: number, b: number) => number>> = { '+': (a, b) => a + b, '*': (a, b) => a * b, '**': (a, b) => a ** b, '//': (a, b) => Math.floor(a / b), '%': (a, b) => a % b };

const lastResult = (messages: readonly Message[]): Message | undefined => messages.findLast(({ role }) => role === 'tool');

/** Runs the tests, finds the operator that explains every failure, edits, runs them again, submits. */
export function repairer({ messages }: Request): Decision {
  const result = lastResult(messages)?.content;
  if (result === undefined || result === null) return { text: 'First I look at what fails.', calls: [['bash', { command: 'cat /work/calc.py; python3 /check/test.py' }]] };
  if (/^Changed |^Wrote /.test(result)) return { calls: [['bash', { command: 'python3 /check/test.py' }]] };
  const failures = [...result.matchAll(/f\((\d+), (\d+)\) is \S+, expected (\d+)/g)].map((match) => match.slice(1).map(Number) as [number, number, number]);
  if (failures.length === 0) return { text: 'All tests pass.', calls: [['submit', {}]] };
  const operator = OPERATORS.find((each) => failures.every(([a, b, want]) => apply[each]!(a, b) === want));
  return { reasoning: `${failures.length} failures say that it is ${operator}`, calls: [['edit', { path: '/work/calc.py', old: 'a - b', new: `a ${operator} b` }]] };
}
