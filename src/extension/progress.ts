/** Progress of VS Code, with an `AbortSignal` in place of its token. */
import * as vscode from 'vscode';
import { isCancellation } from './failure.js';

export type Outcome<T> = { readonly cancelled: true } | { readonly cancelled: false; readonly value: T };

export interface Report {
  readonly message?: string;
  /** Share that is done, from 0 to 1; it never goes back. */
  readonly fraction?: number;
}

/** Runs a task behind a notification with Cancel. That it was cancelled is a result, not an error. */
export async function withCancellableProgress<T>(title: string, task: (signal: AbortSignal, report: (what: Report) => void) => Promise<T>): Promise<Outcome<T>> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, token) => {
    const controller = new AbortController();
    const subscription = token.onCancellationRequested(() => controller.abort());
    let shown = 0;
    const report = ({ message, fraction }: Report) => {
      const increment = fraction === undefined ? 0 : Math.max(0, Math.min(100, fraction * 100) - shown);
      shown += increment;
      progress.report({ message, ...(fraction !== undefined && { increment }) });
    };
    try {
      return { cancelled: false, value: await task(controller.signal, report) };
    } catch (error) {
      if (controller.signal.aborted || isCancellation(error)) return { cancelled: true };
      throw error;
    } finally {
      subscription.dispose();
    }
  });
}
