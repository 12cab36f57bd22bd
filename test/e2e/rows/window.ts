/** A real window over a runner whose live sandboxes are many rows that change: what it costs, what is drawn, what a click meets. */
import { build } from 'esbuild';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { RUNNER_FOLDER } from '../../support/runner.js';
import { extensionHost, launchVsCode, type VsCode } from '../../support/vscode.js';
import { Workbench } from '../workbench.js';
import { Workspace } from '../workspace.js';
import type { Drawn } from './host.js';
import { beginLooking, noteClicks, type Seen } from './page.js';
import type { Asked, Churn } from './runner.js';

/** Of the view. */
const PAGE = 200;
const TICK_MS = 10;
const PATIENCE_MS = 20_000;
const TERMINATE = 'Terminate Sandbox';

export interface Cost extends Seen {
  /** How long it really was. */
  readonly seconds: number;
  /** Of the extension host, ms. */
  readonly processor: number;
  readonly drawn: Omit<Drawn, 'questions'>;
  readonly asked: Pick<Asked, 'lists' | 'all' | 'changes'>;
}

export class RowsWindow {
  private constructor(
    private readonly home: string,
    private readonly workspace: Workspace,
    private readonly runner: ChildProcess,
    readonly code: VsCode,
    readonly workbench: Workbench,
  ) {}

  /** Rejects with `VsCodeMissing` where there is none. */
  static async open(count: number): Promise<RowsWindow> {
    const home = await mkdtemp(join(tmpdir(), 'rows-'));
    const workspace = await Workspace.create(1);
    const place = join(home, 'runner');
    const counts = join(home, 'counts');
    await mkdir(counts);
    const runner = fork(resolve('test/e2e/rows/runner.ts'), [place, workspace.folder, String(count)], { execArgv: ['--import', 'tsx'] });
    try {
      await once(runner, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
      // Beneath the extension, whose API it is given then.
      const tests = resolve('out/test/rows/host.js');
      await build({ entryPoints: ['test/e2e/rows/host.ts'], outfile: tests, bundle: true, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode'], logLevel: 'warning' });
      const code = await launchVsCode({ extension: process.cwd(), workspace: workspace.folder, tests, viewport: { width: 1280, height: 1000 }, env: { [RUNNER_FOLDER]: place, RL_ROWS: counts } });
      const window = new RowsWindow(home, workspace, runner, code, new Workbench(code.page));
      // The test's compiler gives functions their names by a function of its own, which the page has not.
      await code.page.evaluate('globalThis.__name = (named) => named');
      await code.page.evaluate(noteClicks);
      return window;
    } catch (error) {
      runner.kill();
      await Promise.all([workspace.remove(), rm(home, { recursive: true, force: true })]);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.code.close();
    this.runner.kill();
    await this.workspace.remove();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  row(id: string): Locator {
    return this.code.page.getByRole('treeitem', { name: `Sandbox hello-${id.slice(-4)},` });
  }

  /** Brings all rows to the tree, which has them a page at a time. */
  async showAll(count: number): Promise<void> {
    const { page } = this.code;
    await this.row('bw-0000').waitFor();
    const tree = page.getByRole('tree', { name: 'Sandboxes' });
    const atTheEnd = async (item: Locator) => {
      for (const until = Date.now() + PATIENCE_MS; !(await item.isVisible()); await delay(50)) {
        if (Date.now() > until) throw new Error(`the list does not end with ${String(item)}`);
        await tree.focus();
        await page.keyboard.press('End');
      }
    };
    for (let shown = PAGE; shown < count; shown += PAGE) {
      const more = page.getByRole('treeitem', { name: `Load more… (${count - shown} hidden)` });
      await atTheEnd(more);
      await more.click();
    }
    await atTheEnd(this.row(`bw-${String(count - 1).padStart(4, '0')}`));
    await tree.focus();
    await page.keyboard.press('Home');
    await this.row('bw-0000').waitFor();
  }

  churn(kind: Churn): void {
    this.runner.send(kind);
  }

  async asked(): Promise<Asked> {
    const answer = once(this.runner, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
    this.runner.send('asked');
    return ((await answer) as [Asked])[0];
  }

  /** What the window does in that time. With a row, whose button the mouse is put on, what is seen there. */
  async measure(seconds: number, id?: string): Promise<Cost> {
    const { page } = this.code;
    if (id !== undefined) await page.evaluate(beginLooking, await this.pointAt(id));
    const host = await extensionHost(this.code.pid);
    const [drawn, asked, processor] = [await this.drawn(), await this.asked(), await ticksOf(host)];
    const began = performance.now();
    await delay(seconds * 1000);
    const used = (await ticksOf(host)) - processor;
    const [drawnThen, askedThen] = [await this.drawn(), await this.asked()];
    const { whole, some, items } = drawn;
    const seen = id === undefined ? { frames: 0, flickers: 0, removed: 0, readded: 0 } : await page.evaluate<Seen>('window.endLooking()');
    return {
      ...seen,
      seconds: (performance.now() - began) / 1000,
      processor: used * TICK_MS,
      drawn: { whole: drawnThen.whole - whole, some: drawnThen.some - some, items: drawnThen.items - items },
      asked: { lists: askedThen.lists - asked.lists, all: askedThen.all - asked.all, changes: askedThen.changes - asked.changes },
    };
  }

  /** Presses the mouse on the button that ends a row, wherever that is just then. Answers with the row that was under it, the one that the question named, and what was ended. */
  async end(id: string): Promise<{ readonly clicked: string; readonly named: string; readonly ended: string }> {
    const { page } = this.code;
    const { length } = (await this.asked()).terminated;
    const { x, y } = await this.pointAt(id);
    await page.mouse.click(x, y);
    const clicked = nameIn(await page.evaluate<string>('window.clicked.at(-1)'));
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(50)) {
      const ended = (await this.asked()).terminated[length];
      if (ended !== undefined) return { clicked, named: nameIn((await this.drawn()).questions.at(-1)), ended: ended.slice(-4) };
    }
    throw new Error(`a click on ${clicked} ended nothing`);
  }

  /** Puts the mouse on a row's button, and says where that is. */
  private async pointAt(id: string): Promise<{ x: number; y: number }> {
    const row = this.row(id);
    const button = row.getByRole('button', { name: TERMINATE });
    let box: Awaited<ReturnType<Locator['boundingBox']>> = null;
    // A row that has just moved up under the mouse shows its buttons at the next move, and may be drawn again between two looks.
    for (const until = Date.now() + PATIENCE_MS; !box && Date.now() < until; await delay(20)) {
      await row.hover({ position: { x: 60 + (Date.now() % 20), y: 10 } });
      if (await button.isVisible()) box = await button.boundingBox();
    }
    if (!box) throw new Error(`the row ${id} shows no button`);
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await this.code.page.mouse.move(at.x, at.y);
    return at;
  }

  private async drawn(): Promise<Drawn> {
    const counts = join(this.home, 'counts');
    await rm(join(counts, 'drawn'), { force: true });
    await writeFile(join(counts, 'ask'), String(Date.now()));
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(20)) {
      const text = await readFile(join(counts, 'drawn'), 'utf8').catch(() => undefined);
      if (text !== undefined) return JSON.parse(text) as Drawn;
    }
    throw new Error('the extension host does not tell what it has drawn');
  }
}

const nameIn = (text = ''): string => /hello-(\w+)/.exec(text)?.[1] ?? '';

/** Processor time that a process has had, in ticks of 10 ms. */
async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).replace(/^.*\) /, '').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
