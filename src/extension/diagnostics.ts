/** What a report of a problem should hold: versions, providers, and what is in force. Never a value of the environment. */
import type { DoctorReport, ProviderReport } from '../runner/api.js';
import { oneLine } from './format.js';

export interface Surroundings {
  readonly extension: string;
  readonly vscode: string;
  readonly app: string;
  readonly trusted: boolean;
  readonly folders: number;
  /** Process id of the engine, while it runs. */
  readonly engine: number | undefined;
}

/** In English whatever the language of the editor: it is read by who helps. */
export function diagnostics(report: DoctorReport, around: Surroundings): string {
  const lines = [
    `RL Sandboxes ${around.extension}`,
    `VS Code ${around.vscode}, ${around.app}`,
    `Engine ${report.version}, Node ${report.node}, ${report.platform}${around.engine === undefined ? '' : `, process ${around.engine}`}`,
    `Workspace: ${around.folders} folders, ${around.trusted ? 'trusted' : 'not trusted'}`,
    '',
    report.chosen ? `"auto" takes ${report.chosen.id}: ${report.chosen.why}` : 'No provider answers: nothing can run yet.',
    ...report.providers.flatMap(describeProvider),
  ];
  return `${lines.join('\n')}\n`;
}

function describeProvider({ title, ok, summary, hint, limits, details }: ProviderReport): string[] {
  const lines = ['', `${title}: ${ok ? 'ok' : 'not available'}`, `  ${oneLine(summary, 400)}`];
  if (hint) lines.push(`  what helps: ${oneLine(hint, 400)}`);
  if (limits) lines.push(`  limits: ${Object.entries(limits).map(([name, mechanism]) => `${name} by ${mechanism === 'none' ? 'nothing' : mechanism}`).join(', ')}`);
  for (const [label, text] of Object.entries(details ?? {})) lines.push(`  ${oneLine(label, 60)}: ${oneLine(text, 400)}`);
  return lines;
}
