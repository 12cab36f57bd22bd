export interface SuiteToRun {
  readonly name: string;
  readonly timeoutMs: number;
  readonly retries?: number;
  readonly files: () => Promise<readonly string[]>;
}
export interface SuiteOutcome {
  readonly passed: number;
  readonly flaky: readonly { readonly title: string; readonly error: string }[];
  readonly failures: readonly { readonly title: string; readonly error: string }[];
  readonly skips: readonly { readonly title: string; readonly reason: string }[];
}
export function runSuite(suite: SuiteToRun, options: { scratch: string; env: NodeJS.ProcessEnv; grep?: string; onProgress: () => void }): Promise<SuiteOutcome>;
