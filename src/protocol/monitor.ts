/** What the page of a sandbox's processor and memory and the extension say to each other. Snapshots, not deltas. */

/** All that the page shows. Arrays are of one length, oldest first; null where it was not measured. */
export interface MonitorState {
  /** Of the sandbox, for a heading. */
  readonly name: string;
  /** Seconds before the last measurement, as numbers that end with 0: -300 to 0. */
  readonly at: readonly number[];
  /** Cores in use, such as 0.5. */
  readonly cpu: readonly (number | null)[];
  /** Bytes. */
  readonly memory: readonly (number | null)[];
  /** Processes now. */
  readonly pids: number | null;
  /** Why nothing more is measured. */
  readonly problem?: string;
}

export interface MonitorRequests {
  /** Sent first, when the page is up. */
  ready: { params: undefined; result: MonitorState };
}

export interface MonitorNotifications {
  state: MonitorState;
}
