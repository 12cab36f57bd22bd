/** The desktop VS Code, where it can be downloaded. */
import { downloadAndUnzipVSCode, runTests, SilentReporter } from '@vscode/test-electron';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/cache.mjs';
import { canDownloadVsCode } from '../../scripts/setup/vscode.mjs';

export interface DesktopRun {
  readonly workspace: string;
  readonly extension: string;
  readonly tests: string;
}

/** Whether a window can be opened and VS Code fetched, said within seconds. */
export async function desktopAvailable(): Promise<boolean> {
  return (process.platform !== 'linux' || !!process.env.DISPLAY || !!process.env.WAYLAND_DISPLAY) && (await canDownloadVsCode());
}

/** Runs the bundle in a desktop VS Code with a profile of its own. Rejects if a test failed. */
export async function runInDesktop({ workspace, extension, tests }: DesktopRun): Promise<void> {
  const vscodeExecutablePath = await downloadAndUnzipVSCode({ cachePath: cacheFolder('vscode-desktop'), reporter: new SilentReporter() });
  const profile = await mkdtemp(join(tmpdir(), 'code-'));
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  try {
    await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: extension,
      extensionTestsPath: tests,
      launchArgs: [workspace, '--user-data-dir', profile, '--disable-extensions', '--disable-workspace-trust', '--disable-gpu', ...root],
    });
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
