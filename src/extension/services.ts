/** What commands and views are given. */
import type * as vscode from 'vscode';
import type { Accounts } from './accounts.js';
import type { Commander } from './commander.js';
import type { CompareViews } from './panels/compareViews.js';
import type { Monitors } from './panels/monitors.js';
import type { RunViews } from './panels/runViews.js';
import type { TraceDiffs } from './panels/traceDiffs.js';
import type { TraceViews } from './panels/traceViews.js';
import type { Runner } from './runner.js';
import type { Runs } from './runs.js';
import type { Channels } from './sandbox/channels.js';
import type { SandboxFiles } from './sandbox/fileSystem.js';
import type { Streams } from './sandbox/streams.js';
import type { Terminals } from './sandbox/terminals.js';
import type { Sandboxes } from './sandboxes.js';
import type { Setup } from './setup.js';
import type { Snapshots } from './snapshots.js';
import type { Templates } from './templates.js';

export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly commander: Commander;
  readonly runner: Runner;
  readonly accounts: Accounts;
  readonly templates: Templates;
  readonly runs: Runs;
  readonly sandboxes: Sandboxes;
  readonly snapshots: Snapshots;
  readonly streams: Streams;
  readonly terminals: Terminals;
  readonly files: SandboxFiles;
  readonly channels: Channels;
  readonly monitors: Monitors;
  readonly setup: Setup;
  readonly runViews: RunViews;
  readonly traceViews: TraceViews;
  readonly compareViews: CompareViews;
  readonly traceDiffs: TraceDiffs;
}
