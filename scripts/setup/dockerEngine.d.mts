export interface OwnEngine {
  readonly dataRoot: string;
  readonly run: string;
  readonly socket: string;
  readonly host: string;
  readonly pidFile: string;
  readonly log: string;
  readonly stop: () => Promise<void>;
}
export function startEngine(dataRoot: string, options?: { readonly args?: readonly string[]; readonly apart?: boolean; readonly timeoutMs?: number }): Promise<OwnEngine>;
