/** Why processes cannot be checkpointed here, in one line; undefined if they can. */
export function ensureCriu(): Promise<string | undefined>;
