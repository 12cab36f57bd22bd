/** Says something that needs no answer, where nobody is disturbed by it. */
import * as vscode from 'vscode';

const SHOWN_MS = 10_000;

export function tellQuietly(text: string): void {
  vscode.window.setStatusBarMessage(text, SHOWN_MS);
}
