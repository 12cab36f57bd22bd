/** Runs inside the extension host, and counts what the tree of live sandboxes asks VS Code to draw again, and says yes to what is asked. It tells when it finds a file `ask` in the folder `RL_ROWS`. */
import { watch } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TestApi } from '../../../src/extension/activate.js';

export interface Drawn {
  /** Of the whole view. */
  readonly whole: number;
  /** Of items one by one, and how many these were. */
  readonly some: number;
  readonly items: number;
  /** What a person was asked before something was done; the answer was yes. A window that is under test shows no such question. */
  readonly questions: readonly string[];
}

export async function run(): Promise<void> {
  const folder = process.env.RL_ROWS!;
  const api = await vscode.extensions.getExtension<TestApi>('rl-sandboxes.rl-sandboxes')!.activate();
  const drawn = { whole: 0, some: 0, items: 0, questions: [] as string[] };
  const showWarningMessage = (question: string, ...rest: readonly unknown[]) => {
    drawn.questions.push(question);
    return Promise.resolve(rest.find((button) => typeof button === 'string'));
  };
  Object.assign(vscode.window, { showWarningMessage });
  api.trees.sandboxes.onDidChangeTreeData((handles) => {
    if (!handles) return void (drawn.whole += 1);
    drawn.some += 1;
    drawn.items += Array.isArray(handles) ? handles.length : 1;
  });
  watch(folder, (_, name) => {
    if (name !== 'ask') return;
    const part = join(folder, 'part');
    void writeFile(part, JSON.stringify(drawn satisfies Drawn)).then(() => rename(part, join(folder, 'drawn')));
  });
  // The window ends with its tests.
  return new Promise(() => undefined);
}
