#!/usr/bin/env node
/** The command line: the engine from a terminal, in this process. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../engine/version.js';
import { addAct } from './commands/act.js';
import { addBuild } from './commands/build.js';
import { addCompare } from './commands/compare.js';
import { addExport } from './commands/export.js';
import { addMaintenance } from './commands/maintenance.js';
import { addLive } from './commands/live.js';
import { addRun } from './commands/run.js';
import { addRunner } from './commands/runner.js';
import { addRuns } from './commands/runs.js';
import { addSandboxes } from './commands/sandboxes.js';
import { addServe } from './commands/serve.js';
import { addSnapshots } from './commands/snapshots.js';
import { addTrace } from './commands/trace.js';
import { EXIT } from './failure.js';

const program = new Command('rl-sandboxes')
  .description('Author reinforcement-learning environments: build once, snapshot, restore into every episode, read the rewards.')
  .version(VERSION)
  .option('--root <folder>', 'workspace folder whose .rlenv is used; else the nearest one above, else this folder')
  .option('--json', 'print one JSON object, documented in docs/cli.md')
  .showHelpAfterError('(--help shows what there is)')
  .showSuggestionAfterError()
  .exitOverride();

// A reader that went away, such as `| head`, ends the command quietly.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.failed);
    throw error;
  });

for (const add of [addRun, addAct, addBuild, addRuns, addCompare, addExport, addSandboxes, addLive, addSnapshots, addServe, addTrace, addMaintenance, addRunner]) add(program);
for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}
