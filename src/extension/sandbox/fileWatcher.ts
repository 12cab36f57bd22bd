/** Looks at files of sandboxes again and again, but only at those that a person has before them. */
import * as vscode from 'vscode';
import type { FileInfo } from '../../sandbox/provider.js';
import { Disposing } from '../dispose.js';

const POLL_MS = 2000;

export class FileWatcher extends Disposing {
  /** How many want to hear of it, by address. */
  private readonly wanted = new Map<string, { readonly uri: vscode.Uri; count: number }>();
  private readonly seen = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly info: (uri: vscode.Uri) => Promise<FileInfo>,
    private readonly changed: (events: vscode.FileChangeEvent[]) => void,
  ) {
    super();
    this.own({ dispose: () => clearTimeout(this.timer) });
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const key = uri.toString();
    const entry = this.wanted.get(key) ?? { uri, count: 0 };
    entry.count += 1;
    this.wanted.set(key, entry);
    // What it is compared with is how it is now, not how it will be at the first look.
    if (entry.count === 1) void this.look(key, uri);
    this.timer ??= setTimeout(() => void this.poll(), POLL_MS);
    return new vscode.Disposable(() => {
      entry.count -= 1;
      if (entry.count > 0) return;
      this.wanted.delete(key);
      this.seen.delete(key);
    });
  }

  private async poll(): Promise<void> {
    const visible = new Set(vscode.window.visibleTextEditors.map(({ document }) => document.uri.toString()));
    const events: vscode.FileChangeEvent[] = [];
    await Promise.all(
      [...this.wanted].filter(([key]) => visible.has(key)).map(async ([key, { uri }]) => {
        const before = this.seen.get(key);
        const now = await this.look(key, uri);
        if (now !== undefined && before !== undefined && before !== now) events.push({ uri, type: now === 'gone' ? vscode.FileChangeType.Deleted : vscode.FileChangeType.Changed });
      }),
    );
    if (this.isDisposed) return;
    if (events.length > 0) this.changed(events);
    this.timer = this.wanted.size > 0 ? setTimeout(() => void this.poll(), POLL_MS) : undefined;
  }

  /** Notes how a file is; undefined where nobody wants to know any more, or there is no answer. */
  private async look(key: string, uri: vscode.Uri): Promise<string | undefined> {
    const now = await this.info(uri).then(({ size, modified }) => `${size} ${modified}`, (error: unknown) => (isGone(error) ? 'gone' : undefined));
    if (now === undefined || !this.wanted.has(key)) return undefined;
    this.seen.set(key, now);
    return now;
  }
}

const isGone = (error: unknown): boolean => error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
