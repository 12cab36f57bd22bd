/** Completion of keys and values, and what a key means, from the schema of templates. */
import * as vscode from 'vscode';
import { describe, keysAt, valuesAt, type KeyInfo, type ValueHint } from '../../template/complete.js';
import { cursorAt } from './cursor.js';

const linesOf = (document: vscode.TextDocument): string[] => document.getText().split(/\r?\n/);

export class TemplateCompletion implements vscode.CompletionItemProvider {
  provideCompletionItems(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
    const cursor = cursorAt(linesOf(document), position.line, position.character);
    if (!cursor) return [];
    const { path, key, inValue, siblings, type } = cursor;
    if (inValue && key !== undefined) {
      const known = keysAt(path, type).find(({ name }) => name === key)?.values ?? valuesAt([...path, key]);
      return known.map((hint) => valueItem(hint, /:$/.test(document.lineAt(position).text.slice(0, position.character))));
    }
    const keys = keysAt(path, type).filter(({ name }) => !siblings.includes(name));
    return [...keys.map((info, index) => keyItem(info, index)), ...valuesAt(path).map((hint) => valueItem(hint, false))];
  }
}

/** How a key goes on behind its colon. */
const CONTINUATIONS: Readonly<Record<KeyInfo['kind'], string>> = { text: ': ', number: ': ', boolean: ': ', list: ':\n  - ', map: ':\n  ' };

function keyItem({ name, description, required, kind, values }: KeyInfo, index: number): vscode.CompletionItem {
  const item = new vscode.CompletionItem({ label: name, description: required ? 'required' : undefined }, vscode.CompletionItemKind.Property);
  item.insertText = `${name}${CONTINUATIONS[kind]}`;
  item.sortText = `${required ? 0 : 1}${String(index).padStart(3, '0')}`;
  if (description) item.documentation = new vscode.MarkdownString(description);
  if (values.length > 0) item.command = { command: 'editor.action.triggerSuggest', title: '' };
  return item;
}

function valueItem({ value, description }: ValueHint, needsBlank: boolean): vscode.CompletionItem {
  const item = new vscode.CompletionItem(value, vscode.CompletionItemKind.EnumMember);
  if (needsBlank) item.insertText = ` ${value}`;
  if (description) item.documentation = new vscode.MarkdownString(description);
  return item;
}

export class TemplateHover implements vscode.HoverProvider {
  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const range = document.getWordRangeAtPosition(position, /[A-Za-z_][\w-]*/);
    if (!range) return undefined;
    const cursor = cursorAt(linesOf(document), position.line, position.character);
    if (cursor?.key === undefined || cursor.inValue) return undefined;
    const text = describe([...cursor.path, cursor.key], cursor.type);
    return text === undefined ? undefined : new vscode.Hover(new vscode.MarkdownString(text), range);
  }
}
