/** A real VS Code for tests: its server, started on a free port with a profile of its own, opened in a Chromium. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { findVsCode, type VsCodeServer } from '../../scripts/setup/vscode.mjs';
import { launchBrowser, NO_BROWSER } from './browser.js';
import { RUNNER_FOLDER, stopRunner } from './runner.js';

export interface VsCodeOptions {
  /** Folder to open, or a `.code-workspace` file. */
  readonly workspace: string;
  /** Whether VS Code asks for trust in the workspace, as it does in use. */
  readonly asksForTrust?: boolean;
  /** Folder of an extension to load from its sources. */
  readonly extension?: string;
  /** A packaged extension to install first. */
  readonly vsix?: string;
  /** A bundle whose `run()` executes in the extension host. */
  readonly tests?: string;
  /** User settings, besides those that keep the window quiet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface VsCode {
  readonly page: Page;
  readonly url: string;
  /** Folder of the runner. */
  readonly runner: string;
  /** The server, whose children are the extension hosts. */
  readonly pid: number;
  /** Everything that the server and the browser's console said so far. */
  readonly log: readonly string[];
  /** Ends the browser and the server with all of its processes. */
  close(): Promise<void>;
}

const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'window.confirmBeforeClose': 'never',
  'git.enabled': false,
};

/** Why a VS Code cannot be started, for a skip. */
export class VsCodeMissing extends Error {}

/** The server in the cache; rejects with `VsCodeMissing`. */
export async function requireVsCode(): Promise<VsCodeServer> {
  const server = await findVsCode();
  if (!server) throw new VsCodeMissing('no VS Code server is installed; `npm test` installs one');
  return server;
}

/** Starts the server and resolves with its port, once it listens. */
function listen(server: VsCodeServer, home: string, { env, asksForTrust }: VsCodeOptions, log: string[]) {
  const args = ['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--enable-smoke-test-driver', '--accept-server-license-terms'];
  const child = spawn(server.node, [server.serverMain, ...args, ...profile(home), '--disable-telemetry', ...(asksForTrust ? [] : ['--disable-workspace-trust'])], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const port = new Promise<number>((resolve, reject) => {
    const read = (line: string) => {
      log.push(line);
      const match = /listening on (\d+)/.exec(line);
      if (match) resolve(Number(match[1]));
    };
    createInterface({ input: child.stdout }).on('line', read);
    createInterface({ input: child.stderr }).on('line', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the VS Code server ended with exit code ${code}:\n${log.join('\n')}`)));
    setTimeout(() => reject(new Error(`the VS Code server did not listen within 60 s:\n${log.join('\n')}`)), 60_000).unref();
  });
  return { child, port };
}

const profile = (home: string) => ['--server-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')];

/** Ends a process group: politely, so that the extension can tidy up, then for good. */
async function endGroup(pid: number): Promise<void> {
  const gone = () => {
    try {
      process.kill(-pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  for (const [signal, patienceMs] of [['SIGTERM', 8_000], ['SIGKILL', 5_000]] as const) {
    if (gone()) return;
    process.kill(-pid, signal);
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline && !gone(); ) await delay(50);
  }
}

/** Installs a packaged extension into a profile. */
async function install(server: VsCodeServer, home: string, vsix: string): Promise<void> {
  const child = spawn(server.node, [server.serverMain, '--install-extension', vsix, '--accept-server-license-terms', ...profile(home)], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`installing ${vsix} ended with exit code ${code}:\n${Buffer.concat(output).toString()}`);
}

/** Where the page asks for the server's half of the key that secrets are encrypted with. */
export const SECRETS_KEY = '**/mint-key';

/**
 * Answers as the front of a VS Code in the browser does, which is not part of the server that is started here: without an answer the page keeps secrets only until
 * it is loaded again. 256 bits, always the same ones.
 */
async function keepSecrets(page: Page): Promise<void> {
  const half = randomBytes(32);
  await page.route(SECRETS_KEY, (route) => route.fulfill({ status: 200, contentType: 'application/octet-stream', body: half }));
}

/** Opens a folder in a VS Code of its own. Rejects with `VsCodeMissing` where there is none, or no browser. */
export async function launchVsCode(options: VsCodeOptions): Promise<VsCode> {
  const server = await requireVsCode();
  const home = await mkdtemp(join(tmpdir(), 'vscode-'));
  // A runner of its own, which every window of this VS Code shares.
  const runner = join(home, 'runner');
  const log: string[] = [];
  let browser: Browser | undefined;
  let pid: number | undefined;
  const close = async () => {
    await browser?.close();
    if (pid !== undefined) await endGroup(pid);
    await stopRunner(runner);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    browser = await launchBrowser();
    if (!browser) throw new VsCodeMissing(NO_BROWSER);
    await mkdir(join(home, 'data', 'data', 'Machine'), { recursive: true });
    await writeFile(join(home, 'data', 'data', 'Machine', 'settings.json'), JSON.stringify({ ...QUIET, ...options.settings }));
    if (options.vsix) await install(server, home, options.vsix);
    const { child, port } = listen(server, home, { ...options, env: { [RUNNER_FOLDER]: runner, ...options.env } }, log);
    pid = child.pid;
    const host = `127.0.0.1:${await port}`;
    const remote = (path: string) => `vscode-remote://${host}${path}`;
    const payload = [
      ...(options.extension ? [['extensionDevelopmentPath', remote(options.extension)]] : []),
      ...(options.tests ? [['extensionTestsPath', remote(options.tests)]] : []),
    ];
    const kind = options.workspace.endsWith('.code-workspace') ? 'workspace' : 'folder';
    const url = `http://${host}/?${kind}=${encodeURIComponent(options.workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
    const page = await browser.newPage({ viewport: options.viewport ?? { width: 1280, height: 800 } });
    await keepSecrets(page);
    page.on('console', (message) => log.push(`[browser] ${message.text()}`));
    await page.goto(url);
    await page.waitForSelector('.monaco-workbench', { timeout: 60_000 });
    return { page, url, pid: child.pid!, runner, log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The extension host of the window that was opened last: a child of the server. */
export async function extensionHost(server: number): Promise<number> {
  const hosts: { pid: number; started: number }[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [command, line] = await Promise.all(['cmdline', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')));
    if (!command!.includes('--type=extensionHost')) continue;
    // The fields after the name in parentheses: state, parent, ..., and the 20th is the time of the start.
    const fields = line!.slice(line!.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[1]) === server) hosts.push({ pid: Number(pid), started: Number(fields[19]) });
  }
  const newest = hosts.sort((a, b) => b.started - a.started)[0];
  if (!newest) throw new Error('the VS Code server has no extension host');
  return newest.pid;
}
