/** Several questions in a row, with a way back. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

export type Answer<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'back' } | { readonly kind: 'cancelled' };

interface Place {
  readonly title: string;
  readonly step: number;
  readonly steps: number;
}

export interface TextQuestion extends Place {
  readonly prompt: string;
  readonly value: string;
  readonly placeholder?: string;
  /** Shows dots. */
  readonly password?: boolean;
  /** A page that helps to answer, behind a button. */
  readonly page?: string;
  /** A sentence if the text will not do. */
  readonly check: (text: string) => string | undefined;
}

export interface PickQuestion<T> extends Place {
  readonly placeholder: string;
  readonly items: readonly (vscode.QuickPickItem & { readonly value: T })[];
  readonly selected: T | undefined;
}

export function askText(question: TextQuestion): Promise<Answer<string>> {
  const input = vscode.window.createInputBox();
  Object.assign(input, { title: question.title, prompt: question.prompt, value: question.value, placeholder: question.placeholder, password: question.password ?? false });
  input.onDidChangeValue((text) => (input.validationMessage = question.check(text)));
  const { page } = question;
  const open = page === undefined ? undefined : { iconPath: new vscode.ThemeIcon('link-external'), tooltip: l10n.t('Open {0}', page) };
  input.onDidTriggerButton((button) => button === open && void vscode.env.openExternal(vscode.Uri.parse(page!)));
  return answer(input, question, open, () => {
    input.validationMessage = question.check(input.value);
    return input.validationMessage ? undefined : { value: input.value.trim() };
  });
}

export function askPick<T>(question: PickQuestion<T>): Promise<Answer<T>> {
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly value: T }>();
  Object.assign(pick, { title: question.title, placeholder: question.placeholder, items: question.items });
  pick.activeItems = question.items.filter(({ value }) => value === question.selected);
  return answer(pick, question, undefined, () => {
    const [item] = pick.selectedItems;
    return item && { value: item.value };
  });
}

/** `accept` gives the answer, or nothing while it will not do. */
function answer<T>(input: vscode.InputBox | vscode.QuickPick<vscode.QuickPickItem & { readonly value: T }>, { step, steps }: Place, more: vscode.QuickInputButton | undefined, accept: () => { value: T } | undefined): Promise<Answer<T>> {
  input.step = step;
  input.totalSteps = steps;
  input.ignoreFocusOut = true;
  input.buttons = [...(step > 1 ? [vscode.QuickInputButtons.Back] : []), ...(more ? [more] : [])];
  return new Promise((resolve) => {
    const settle = (result: Answer<T>) => {
      resolve(result);
      input.dispose();
    };
    input.onDidAccept(() => {
      const accepted = accept();
      if (accepted) settle({ kind: 'value', value: accepted.value });
    });
    input.onDidTriggerButton((button) => button === vscode.QuickInputButtons.Back && settle({ kind: 'back' }));
    input.onDidHide(() => settle({ kind: 'cancelled' }));
    input.show();
  });
}

/** One question: given what is answered so far, what it adds to it. */
export type Step<A> = (answers: A, place: Place) => Promise<Answer<A>>;

/** Asks all of them; undefined when a person gave up. */
export async function askAll<A>(title: string, initial: A, steps: readonly Step<A>[]): Promise<A | undefined> {
  const history = [initial];
  while (history.length <= steps.length) {
    const index = history.length - 1;
    const result = await steps[index]!(history[index]!, { title, step: index + 1, steps: steps.length });
    if (result.kind === 'cancelled') return undefined;
    if (result.kind === 'value') history.push(result.value);
    else if (history.length > 1) history.pop();
  }
  return history.at(-1);
}

/** A whole number from 1 on, for `TextQuestion.check`. */
export const checkPositive = (most: number) => (text: string): string | undefined =>
  /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= most ? undefined : l10n.t('Expected a whole number from 1 to {0}.', most);
