/** What a model is told of a tool call: one rule for the policy that says it and for whoever shows the request again. */

/** A result with its texts at hand, not as blobs. */
export interface ToolOutcome {
  readonly stdout: string;
  readonly exitCode?: number;
  readonly dropped?: number;
  readonly droppedAt?: number;
  readonly error?: string;
}

/** In place of a result that made room. */
export const ELIDED = '[The output of this call was removed to make room.]';

/** The content of the message with role `tool`. */
export function toolText({ stdout, exitCode, dropped, droppedAt, error }: ToolOutcome): string {
  const text = dropped ? `${stdout.slice(0, droppedAt)}\n[... ${dropped} bytes left out ...]\n${stdout.slice(droppedAt)}` : stdout;
  const rest = [...(exitCode ? [`[exit code ${exitCode}]`] : []), ...(error ? [`[error: ${error}]`] : [])];
  if (rest.length === 0) return text === '' ? '[no output]' : text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${rest.join('\n')}`;
}
