/** An event that one place raises and others hear. The shape of `vscode.Event`, without VS Code. */
import type { Disposable } from './dispose.js';

export class Signal<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => unknown>();

  readonly event = (listener: (value: T) => unknown): Disposable => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}
