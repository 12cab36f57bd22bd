import type { Disposable } from '../../dispose.js';
import type { Services } from '../../services.js';
import type { SandboxesView } from '../../views/sandboxesView.js';
import { registerCompareCommand } from './compare.js';
import { registerFileCommands } from './files.js';
import { registerKeepCommand } from './keep.js';
import { registerLogCommand } from './logs.js';
import { registerMonitorCommand } from './monitor.js';
import { registerOpenCommands } from './open.js';
import { registerPortCommands } from './ports.js';
import { registerExecCommands } from './run.js';
import { registerSnapshotCommands } from './snapshot.js';
import { registerSuspendCommands } from './suspend.js';
import { registerTerminalCommands } from './terminal.js';
import { registerTerminateCommands } from './terminate.js';

/** Every command on live sandboxes. */
export function registerSandboxCommands(services: Services, { revealFiles }: SandboxesView): Disposable[] {
  registerOpenCommands(services);
  registerTerminalCommands(services);
  registerFileCommands(services, revealFiles);
  registerExecCommands(services);
  registerCompareCommand(services);
  registerSnapshotCommands(services);
  registerSuspendCommands(services);
  registerPortCommands(services);
  registerMonitorCommand(services);
  registerTerminateCommands(services);
  return [registerKeepCommand(services), registerLogCommand(services)];
}
