export interface DockerForTests {
  /** Why there can be no engine, in one line; then `host` and `baseImage` are absent. */
  readonly missing?: string;
  readonly host?: string;
  readonly baseImage?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}
export function ensureDocker(): Promise<DockerForTests>;
