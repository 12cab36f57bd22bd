import type { Services } from '../../services.js';
import { registerCompareSnapshotCommand } from './compare.js';
import { registerSnapshotEditCommands } from './edit.js';
import { registerLineageCommand } from './lineage.js';
import { registerSnapshotRemoveCommands } from './remove.js';
import { registerRunSnapshotCommand } from './run.js';
import { registerSnapshotTransferCommands } from './transfer.js';

/** Every command on snapshots. */
export function registerSnapshotListCommands(services: Services): void {
  registerRunSnapshotCommand(services);
  registerCompareSnapshotCommand(services);
  registerSnapshotEditCommands(services);
  registerSnapshotTransferCommands(services);
  registerSnapshotRemoveCommands(services);
  registerLineageCommand(services);
}
