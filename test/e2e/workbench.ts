/** The window as a person sees it: found by role and name, never by position. */
import type { FrameLocator, Locator, Page } from 'playwright-core';

/** Time for what a person would wait for, on a busy machine: the window, the engine's start, a build. */
const PATIENCE_MS = 60_000;
/** And for a run. */
const RUN_MS = 150_000;

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export class Workbench {
  constructor(readonly page: Page) {
    page.setDefaultTimeout(PATIENCE_MS);
  }

  /** Opens the view of the activity bar, if it is not open. */
  async openView(): Promise<void> {
    const tab = this.page.getByRole('tab', { name: 'RL Sandboxes' });
    await tab.waitFor();
    if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
    await this.template('hello').waitFor();
  }

  template(name: string): Locator {
    return this.page.getByRole('treeitem', { name: new RegExp(`^Template ${escape(name)}, `) });
  }

  run(name: string, number: number): Locator {
    return this.page.getByRole('treeitem', { name: new RegExp(`^Run ${escape(name)} #${number}, `) });
  }

  get sandboxes(): Locator {
    return this.page.getByRole('treeitem', { name: /^Sandbox / });
  }

  /** Presses one of the buttons that an item shows under the mouse. Their names end with the shortcut, where there is one. */
  async press(item: Locator, button: string): Promise<void> {
    await item.hover();
    // To the button itself, once: rows are drawn again while a run goes on, and a click on a place that is drawn again meanwhile is tried again by the driver
    // after it has done what it does.
    await item.getByRole('button', { name: new RegExp(`^${escape(button)}( \\(.*\\))?$`) }).dispatchEvent('click');
  }

  /** Chooses from the menu that an item has under the right button. */
  async choose(item: Locator, entry: string): Promise<void> {
    await item.click({ button: 'right' });
    // VS Code takes no click that comes as soon as the menu.
    await this.page.getByRole('menuitem', { name: entry, exact: true }).hover();
    await this.page.keyboard.press('Enter');
  }

  /** Shows what is beneath an item. */
  async expand(item: Locator): Promise<void> {
    // What is beneath one that just begins is not known at once.
    const foldable = item.and(this.page.locator('[aria-expanded]'));
    await foldable.waitFor();
    if ((await foldable.getAttribute('aria-expanded')) === 'false') await foldable.locator('.monaco-tl-twistie').click();
  }

  /** Types into the box that asks for a text, or picks what is offered there by it. */
  async answerInput(text: string): Promise<void> {
    await this.page.locator('.quick-input-widget input:visible').first().fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** What VS Code tells in a corner of the window; its driver for tests has it in this list only. */
  get notifications(): Locator {
    return this.page.locator('.notifications-center');
  }

  async showNotifications(): Promise<void> {
    await this.command('Notifications: Show Notifications');
  }

  /** The question that keeps everything else waiting. */
  get question(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  async answer(button: string): Promise<void> {
    await this.question.getByRole('button', { name: button, exact: true }).click();
    await this.question.waitFor({ state: 'detached' });
  }

  /** The page of the run view that is in front. */
  get runView(): RunViewPage {
    return new RunViewPage(this.page.frameLocator('iframe.webview.ready:visible').frameLocator('iframe#active-frame'));
  }

  /** The page of the trace view that is in front. */
  get traceView(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready:visible').frameLocator('iframe#active-frame');
  }

  /** Opens a file of the folder by its name. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('Control+P');
    await this.page.getByPlaceholder(/search files by name/i).fill(name);
    await this.page.getByRole('option', { name: new RegExp(escape(name)) }).first().click();
  }

  /** Reloads the window as a person does: by its command, which lets it save its state first. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('load');
    await this.command('Developer: Reload Window');
    await loaded;
  }

  /** Runs a command by its name, through the palette. */
  async command(name: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.getByPlaceholder(/type the name of a command/i).fill(`>${name}`);
    await this.page.getByRole('option', { name: new RegExp(`^${escape(name)}`) }).first().click();
  }
}

export class RunViewPage {
  constructor(readonly frame: FrameLocator) {}

  get state(): Locator {
    return this.frame.locator('.run-state');
  }

  get mean(): Locator {
    return this.frame.locator('.stat-mean dd');
  }

  get rows(): Locator {
    return this.frame.getByRole('grid', { name: 'Episodes' }).getByRole('row').filter({ has: this.frame.getByRole('gridcell') });
  }

  get pane(): Locator {
    return this.frame.getByRole('region', { name: /^Episode \d+$/ });
  }

  async waitForState(state: RegExp): Promise<void> {
    await this.state.filter({ hasText: state }).waitFor({ timeout: RUN_MS });
  }

  /** Presses a column's heading. */
  async sortBy(column: string): Promise<void> {
    await this.frame.getByRole('columnheader', { name: column }).getByRole('button').click();
  }

  /** What a column says in the rows on screen, from the top. */
  async column(key: string): Promise<string[]> {
    const cells = await this.rows.evaluateAll(
      (rows, name) =>
        rows
          .filter((row) => !row.classList.contains('loading'))
          .sort((a, b) => Number(a.getAttribute('aria-rowindex')) - Number(b.getAttribute('aria-rowindex')))
          .map((row) => row.querySelector(`.cell-${name}`)?.textContent ?? ''),
      key,
    );
    return cells.map((cell) => cell.trim());
  }
}
