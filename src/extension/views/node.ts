/** A tree item as data: made by pure functions, turned into a `TreeItem` in one place (tree.ts). */
import type { CommandId, InternalCommandId, ItemId } from '../ids.js';

/** What a command acts on, whether it came from a tree, a CodeLens, the run view or the palette. */
export interface TemplateRef {
  readonly root: string;
  readonly file: string;
}
export interface RunRef {
  readonly root: string;
  readonly id: string;
}
export interface EpisodeRef extends RunRef {
  readonly episode: number;
}
export interface SnapshotRef extends RunRef {
  readonly name: string;
}
export interface SandboxRef extends RunRef {
  readonly provider: string;
}
/** A port of a sandbox. */
export interface PortRef extends SandboxRef {
  readonly port: number;
}
/** A service of a sandbox. */
export interface ServiceRef extends SandboxRef {
  readonly service: string;
}
/** What lies at a path in a sandbox. */
export interface FileRef extends SandboxRef {
  readonly path: string;
  readonly folder: boolean;
  readonly size: number;
}

export interface Node {
  /** Unique in its tree, and the same as long as it means the same thing. */
  readonly id: string;
  readonly label: string;
  /** What changes: state, figures. */
  readonly description?: string;
  /** Plain text; computed when a person asks for it. */
  readonly tooltip?: () => string;
  /** Codicon, and the theme colour it is drawn in. */
  readonly icon?: { readonly id: string; readonly color?: string };
  readonly item?: ItemId;
  /** What a screen reader says. */
  readonly spoken: string;
  readonly children?: 'collapsed' | 'expanded';
  readonly command?: { readonly id: CommandId | InternalCommandId; readonly title: string; readonly arguments: readonly unknown[] };
  readonly template?: TemplateRef;
  readonly run?: RunRef;
  readonly episode?: EpisodeRef;
  readonly snapshot?: SnapshotRef;
  /** The sandbox itself, not what is beneath it. */
  readonly sandbox?: SandboxRef;
  readonly port?: PortRef;
  readonly service?: ServiceRef;
  readonly file?: FileRef;
  /** Id of the provider that an account is of. */
  readonly account?: string;
  /** Number of a terminal that is open. */
  readonly terminal?: number;
}
