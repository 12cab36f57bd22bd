/** A person who answers what VS Code asks of them: its questions wait for a person, and its driver for tests refuses dialogs. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';

/** One answer: an item by its label, a text, a button, files of a dialog; or `undefined`, which is Escape. */
export type Answer =
  | { readonly pick: string | RegExp }
  | { readonly type: string }
  | { readonly press: string }
  | { readonly choose: readonly vscode.Uri[] }
  | undefined;

/** What was asked: its words, and what there was to choose from. */
export interface Question {
  readonly text: string;
  readonly offered: readonly string[];
}

type Item = string | vscode.QuickPickItem;
const labelOf = (item: Item): string => (typeof item === 'string' ? item : item.label);

/**
 * Does `work` while every question gets the next of the answers. Rejects if one is asked that has none, if an answer does not fit, if one is left,
 * or if an error is shown that none of them presses a button of.
 */
export async function answering<T>(answers: readonly Answer[], work: () => Thenable<T>): Promise<{ readonly result: T; readonly asked: readonly Question[] }> {
  const left = [...answers];
  const asked: Question[] = [];
  const failures: Error[] = [];
  const next = <K extends 'pick' | 'type' | 'press' | 'choose'>(kind: K, question: Question): Extract<Answer, Record<K, unknown>> | undefined => {
    asked.push(question);
    const answer = left.shift();
    if (asked.length > answers.length) failures.push(new Error(`nobody expected to be asked "${question.text}"`));
    else if (answer && !(kind in answer)) failures.push(new Error(`"${question.text}" is not answered with ${JSON.stringify(answer)}`));
    else return answer as Extract<Answer, Record<K, unknown>> | undefined;
    return undefined;
  };
  const quickPick = async (items: readonly Item[] | Thenable<readonly Item[]>, options?: vscode.QuickPickOptions) => {
    const all = await items;
    const offered = all.map(labelOf);
    const wanted = next('pick', { text: options?.placeHolder ?? options?.title ?? '', offered })?.pick;
    if (wanted === undefined) return undefined;
    const picked = all.find((item) => (typeof wanted === 'string' ? labelOf(item) === wanted : wanted.test(labelOf(item))));
    if (!picked) failures.push(new Error(`there is no ${String(wanted)} among ${offered.join(', ')}`));
    return picked;
  };
  const input = (options: vscode.InputBoxOptions = {}) => {
    const text = next('type', { text: options.prompt ?? options.title ?? '', offered: [] })?.type;
    return Promise.resolve(text);
  };
  const message = (text: string, ...rest: readonly unknown[]) => {
    const buttons = rest.filter((button) => typeof button === 'string');
    const wanted = next('press', { text, offered: buttons })?.press;
    if (wanted !== undefined && !buttons.includes(wanted)) failures.push(new Error(`"${text}" has no button ${wanted}, only ${buttons.join(', ')}`));
    return Promise.resolve(wanted);
  };
  const open = (options: vscode.OpenDialogOptions = {}) => Promise.resolve(next('choose', { text: options.openLabel ?? options.title ?? '', offered: [] })?.choose);
  const save = (options: vscode.SaveDialogOptions = {}) => Promise.resolve(next('choose', { text: options.saveLabel ?? '', offered: [options.defaultUri?.path ?? ''] })?.choose[0]);

  const person = { showQuickPick: quickPick, showInputBox: input, showInformationMessage: message, showWarningMessage: message, showErrorMessage: message, showOpenDialog: open, showSaveDialog: save };
  const window = vscode.window as unknown as Record<string, unknown>;
  const before = Object.fromEntries(Object.keys(person).map((name) => [name, window[name]]));
  Object.assign(window, person);
  try {
    const result = await work();
    if (failures[0]) throw failures[0];
    assert.deepEqual(left, [], 'answers to questions that nobody asked');
    return { result, asked };
  } finally {
    Object.assign(window, before);
  }
}
