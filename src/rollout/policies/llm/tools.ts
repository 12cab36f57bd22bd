/** Tools that a model may call. Each runs as a program of the sandbox; what is wrong with a call is told to the model, and is no failure. */
import * as z from 'zod';
import type { FileChange } from '../../../trace/model.js';
import type { Ran, Stage } from '../../stage.js';
import { changeOf } from './diff.js';
import type { ToolResult, ToolSchema } from './chat.js';

export interface Toolbox {
  readonly stage: Stage;
  /** Bytes of output that the model is told: half of them from the beginning, half from the end. */
  readonly outputLimit: number;
  readonly commandTimeoutMs: number;
}

export interface ToolOutcome extends ToolResult {
  readonly files?: readonly FileChange[];
  /** The model says that it is done. */
  readonly done?: boolean;
}

interface Tool {
  readonly description: string;
  readonly input: z.ZodObject;
  readonly run: (box: Toolbox, input: never) => Promise<ToolOutcome>;
}

const tool = <T extends z.ZodObject>(description: string, input: T, run: (box: Toolbox, input: z.output<T>) => Promise<ToolOutcome>): Tool => ({ description, input, run });

const path = z.string().regex(/^\/[^\0]*$/, 'expected an absolute path').describe('Absolute path.');
/** A file that is edited is read whole. */
const LARGEST_FILE = 4 << 20;

const TOOLS: Readonly<Record<string, Tool>> = {
  bash: tool(
    'Runs a command in a shell of its own and gives its output, standard error included, and its exit code.',
    z.strictObject({ command: z.string().min(1), timeout: z.number().positive().optional().describe('Seconds that it may take.') }),
    (box, { command, timeout }) => shown(box, ['sh', '-c', 'exec 2>&1; if command -v bash > /dev/null; then exec bash -c "$1"; else exec sh -c "$1"; fi', 'sh', command], timeout),
  ),
  python: tool('Runs Python code in an interpreter of its own and gives its output and its exit code.', z.strictObject({ code: z.string().min(1), timeout: z.number().positive().optional().describe('Seconds that it may take.') }), (box, { code, timeout }) =>
    shown(box, ['sh', '-c', 'exec python3 -c "$1" 2>&1', 'sh', code], timeout),
  ),
  read: tool(
    'Reads a text file, or some of its lines.',
    z.strictObject({ path, offset: z.int().min(1).optional().describe('First line, from 1.'), limit: z.int().min(1).optional().describe('How many lines.') }),
    (box, { path: file, offset = 1, limit }) => shown(box, ['sh', '-c', 'exec 2>&1; tail -n "+$2" -- "$1" | if test -n "$3"; then head -n "$3"; else cat; fi; test -f "$1" -a -r "$1"', 'sh', file, String(offset), String(limit ?? '')]),
  ),
  write: tool('Writes a text file, and its folders where they are missing.', z.strictObject({ path, content: z.string() }), async (box, { path: file, content }) => {
    const before = await readWhole(box, file);
    return write(box, file, typeof before === 'string' ? before : undefined, content);
  }),
  edit: tool(
    'Replaces a text in a file by another one. It has to occur exactly once, unless all of them are meant.',
    z.strictObject({ path, old: z.string().min(1), new: z.string(), all: z.boolean().optional() }),
    async (box, { path: file, old, new: replacement, all }) => {
      const before = await readWhole(box, file);
      if (typeof before !== 'string') return before;
      const found = before.split(old).length - 1;
      if (found === 0) return { stdout: '', error: `the text to replace does not occur in ${file}` };
      if (found > 1 && !all) return { stdout: '', error: `the text to replace occurs ${found} times in ${file}: give more of it, or set all` };
      return write(box, file, before, before.split(old).join(replacement));
    },
  ),
  submit: tool('Says that the task is done. What is in the sandbox now is what counts.', z.strictObject({}), () => Promise.resolve({ stdout: 'Submitted.', done: true })),
};

export const TOOL_NAMES = Object.keys(TOOLS);

export function toolSchemas(names: readonly string[]): ToolSchema[] {
  return names.map((name) => {
    const { description, input } = TOOLS[name]!;
    const { $schema: _, ...parameters } = z.toJSONSchema(input);
    return { type: 'function', function: { name, description, parameters } };
  });
}

/** Carries a call out. Rejects with errors of the machinery and with the stage's limits only. */
export async function callTool(box: Toolbox, names: readonly string[], name: string, args: unknown): Promise<ToolOutcome> {
  if (!names.includes(name)) return { stdout: '', error: `there is no tool ${JSON.stringify(name.slice(0, 60))}: there are ${names.join(', ')}` };
  const { input, run } = TOOLS[name]!;
  if (typeof args === 'string') return { stdout: '', error: `the arguments of ${name} are not JSON` };
  const parsed = input.safeParse(args);
  if (!parsed.success) return { stdout: '', error: `the arguments of ${name} are wrong: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'they'}: ${issue.message}`).join('; ')}` };
  return run(box, parsed.data as never);
}

async function shown({ stage, outputLimit, commandTimeoutMs }: Toolbox, argv: readonly string[], seconds?: number): Promise<ToolOutcome> {
  const timeoutMs = seconds === undefined ? commandTimeoutMs : Math.min(seconds * 1000, commandTimeoutMs);
  const ran = await stage.run(argv, { timeoutMs, keep: outputLimit >> 1 });
  const { text, ...gap } = ran.stdout.parts();
  return { stdout: text, ...gap, exitCode: ran.exitCode, ...wrong(ran, timeoutMs) };
}

function wrong({ timedOut, killedBy }: Ran, timeoutMs: number): { error?: string } {
  if (timedOut) return { error: `it did not end within ${timeoutMs / 1000} s and was killed` };
  return killedBy ? { error: `it was killed for using more than its ${killedBy} limit` } : {};
}

/** The text of a file, or what a model is told of one that cannot be read. */
async function readWhole({ stage, commandTimeoutMs }: Toolbox, file: string): Promise<string | ToolOutcome> {
  const ran = await stage.run(['sh', '-c', 'exec cat -- "$1"', 'sh', file], { timeoutMs: commandTimeoutMs, keep: LARGEST_FILE });
  const { text, dropped } = ran.stdout.parts();
  if (ran.exitCode !== 0) return { stdout: ran.stderr.text().trim(), ...wrong(ran, commandTimeoutMs), error: wrong(ran, commandTimeoutMs).error ?? `${file} cannot be read` };
  return dropped ? { stdout: '', error: `${file} is too large to be edited here` } : text;
}

async function write({ stage, commandTimeoutMs }: Toolbox, file: string, before: string | undefined, after: string): Promise<ToolOutcome> {
  const script = 'mkdir -p -- "$(dirname -- "$1")" && exec cat > "$1"';
  const ran = await stage.run(['sh', '-c', script, 'sh', file], { stdin: after, timeoutMs: commandTimeoutMs });
  if (ran.exitCode !== 0) return { stdout: ran.stderr.text().trim(), error: wrong(ran, commandTimeoutMs).error ?? `${file} cannot be written` };
  const change = changeOf(file, before, after);
  return { stdout: before === undefined ? `Wrote ${file}.` : `Changed ${file}: ${change.added} lines added, ${change.removed} removed.`, files: [change] };
}
