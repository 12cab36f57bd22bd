/** What commands and views are given. */
import type * as vscode from 'vscode';
import type { Commander } from './commander.js';
import type { RunViews } from './panels/runViews.js';
import type { TraceViews } from './panels/traceViews.js';
import type { Runner } from './runner.js';
import type { Runs } from './runs.js';
import type { Sandboxes } from './sandboxes.js';
import type { Setup } from './setup.js';
import type { Templates } from './templates.js';

export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly commander: Commander;
  readonly runner: Runner;
  readonly templates: Templates;
  readonly runs: Runs;
  readonly sandboxes: Sandboxes;
  readonly setup: Setup;
  readonly runViews: RunViews;
  readonly traceViews: TraceViews;
}
