import type { Services } from '../../services.js';
import { registerSnapshotEditCommands } from './edit.js';
import { registerLineageCommand } from './lineage.js';
import { registerSnapshotRemoveCommands } from './remove.js';
import { registerSnapshotTransferCommands } from './transfer.js';

/** Every command on snapshots. */
export function registerSnapshotListCommands(services: Services): void {
  registerSnapshotEditCommands(services);
  registerSnapshotTransferCommands(services);
  registerSnapshotRemoveCommands(services);
  registerLineageCommand(services);
}
