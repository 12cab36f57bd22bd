import type { OwnEngine } from './dockerEngine.d.mts';

export interface PodmanForTests {
  /** Why there can be no service, in one line; then `host` and `baseImage` are absent. */
  readonly missing?: string;
  readonly host?: string;
  readonly baseImage?: string;
  /** Why processes cannot be checkpointed, in one line. */
  readonly noCheckpoints?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}
export function ensurePodman(): Promise<PodmanForTests>;
/** Another service, with images and containers of its own in a folder that is made. */
export function podmanApart(dataRoot: string): Promise<OwnEngine>;
