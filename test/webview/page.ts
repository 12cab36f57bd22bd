/** A page of a webview alone, in a real browser, under the policy that the extension gives it. */
import { build } from 'esbuild';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type PageParts, runViewPage } from '../../src/extension/panels/html.js';
import { NO_BROWSER, launchBrowser } from '../support/browser.js';
import { PATIENCE_MS } from '../support/sees.js';
import type { StubOptions } from './stubHost.js';
import { type ThemeName, THEMES } from './themes.js';

const ROOT = join(import.meta.dirname, '../..');
const BUILT = join(ROOT, 'out/webview');
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };

export interface ViewOptions {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  /** Translations that the extension puts into the page. */
  readonly bundle?: PageParts['bundle'];
  /** Runs in the page before anything of its own. */
  readonly script?: string;
}

export type OpenOptions = ViewOptions & StubOptions;

export interface OpenPage {
  readonly page: Page;
  /** Errors of the page, refusals of the policy and warnings, as they came. */
  readonly complaints: string[];
}

/** A page, and what stands in for the extension in it. */
export interface PageKind {
  /** Of the bundle. */
  readonly name: string;
  readonly entry: string;
  readonly stub: string;
  readonly html: (parts: PageParts) => string;
  /** There once the page is up. */
  readonly ready: string;
}

const RUN_VIEW: PageKind = {
  name: 'runView',
  entry: 'webview/runView/main.ts',
  stub: 'test/webview/stubHost.ts',
  html: (parts) => runViewPage({ ...parts, run: '{"root":"/workspace","id":"run-14"}' }),
  ready: '.grid-body .row:not(.loading)',
};

/** Bundles the page as the product's build does. */
async function bundle({ name, entry, stub }: PageKind): Promise<void> {
  await mkdir(BUILT, { recursive: true });
  await cp(join(ROOT, 'node_modules/@vscode/codicons/dist'), join(BUILT, 'codicons'), { recursive: true, filter: (file) => !/\.(html|csv|svg|json|ts)$/.test(file) });
  const common = { absWorkingDir: ROOT, outdir: BUILT, bundle: true, platform: 'browser', target: 'chrome124', logLevel: 'warning' } as const;
  await build({ ...common, entryPoints: { [name]: entry }, format: 'esm', splitting: true, chunkNames: 'chunks/[name]-[hash]', minify: true, keepNames: true });
  await build({ ...common, entryPoints: { [`${name}.stub`]: stub }, format: 'iife' });
}

async function serve({ html }: PageKind, translations: () => PageParts['bundle']): Promise<Server> {
  const server = createServer((request, response) => {
    // A browser asks for it, a webview does not.
    if (request.url === '/favicon.ico') return void response.writeHead(204).end();
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (path === '/') {
      const { port } = server.address() as AddressInfo;
      const origin = `http://127.0.0.1:${port}`;
      response.setHeader('content-type', 'text/html');
      response.end(html({ base: origin, cspSource: origin, nonce: 'c0ffee', language: 'en', title: 'Page', bundle: translations() }));
      return;
    }
    readFile(join(BUILT, path)).then(
      (content) => response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/**
 * Waits until an expression holds on the page. Not by Playwright's own `waitForFunction`, which evaluates text inside the page as it waits: the
 * policy refuses that, as it should. An expression that cannot be evaluated does not hold yet: what it looks at may not be there, the page may be about to go.
 */
export async function until(page: Page, expression: string, timeoutMs = PATIENCE_MS): Promise<void> {
  let failure: unknown;
  const holds = () => page.evaluate(expression).catch((error: unknown) => void (failure = error));
  for (const deadline = Date.now() + timeoutMs; !(await holds()); await setTimeout(20)) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${expression}`, { cause: failure });
  }
}

/** A browser and what it needs; `close` ends all of it. */
export class PageBrowser<O extends object> {
  private constructor(
    private readonly browser: Browser,
    private readonly server: Server,
    private readonly stub: string,
    private readonly kind: PageKind,
    private readonly served: { bundle?: PageParts['bundle'] },
  ) {}

  static async launch<O extends object>(kind: PageKind): Promise<PageBrowser<O>> {
    await bundle(kind);
    // First, so that nothing is open when there is none.
    const browser = await launchBrowser();
    if (!browser) throw new Error(NO_BROWSER);
    const served: { bundle?: PageParts['bundle'] } = {};
    const server = await serve(kind, () => served.bundle);
    return new PageBrowser<O>(browser, server, await readFile(join(BUILT, `${kind.name}.stub.js`), 'utf8'), kind, served);
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Opens the page; with `until`, waits for rows or for whatever else it names. */
  async open({ theme = 'dark', width = 1200, height = 900, bundle, script, ...stub }: ViewOptions & O, until = this.kind.ready): Promise<OpenPage> {
    const context = await this.browser.newContext({ viewport: { width, height } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    await page.addInitScript(`window.__stubOptions = ${JSON.stringify(stub)}; ${this.stub}`);
    await page.addInitScript(themeScript(theme));
    if (script) await page.addInitScript(script);
    this.served.bundle = bundle;
    await page.goto(this.address);
    if (until) await page.waitForSelector(until);
    return { page, complaints };
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export type RunViewBrowser = PageBrowser<StubOptions>;
export const RunViewBrowser = { launch: () => PageBrowser.launch<StubOptions>(RUN_VIEW) };

/** Puts a theme on the page, as VS Code does: variables on the root, a class on the body. A script for the page. */
export function themeScript(theme: ThemeName): string {
  const { bodyClass, variables } = THEMES[theme];
  const properties = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`--vscode-${name}`, value]));
  return `{
    const apply = () => {
      document.documentElement.removeAttribute('style');
      for (const [name, value] of Object.entries(${JSON.stringify(properties)})) document.documentElement.style.setProperty(name, value);
      document.body.className = ${JSON.stringify(bodyClass)};
    };
    if (document.body) apply();
    else document.addEventListener('DOMContentLoaded', apply);
  }`;
}
