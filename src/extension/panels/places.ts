/**
 * Where readers were in the traces of this workspace, as the pages say it. VS Code for the Web saves what a page keeps with `setState` every few
 * seconds, and not when its window goes; what an extension stores it saves at once. Knows nothing of VS Code.
 */
interface Store {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const KEY = 'traceView.places';
const MOST = 50;

type Place = readonly [file: string, state: string];

export class Places {
  constructor(private readonly store: Store) {}

  get(file: string): string | undefined {
    return this.all().find(([name]) => name === file)?.[1];
  }

  async set(file: string, state: string): Promise<void> {
    await this.store.update(KEY, [[file, state], ...this.all().filter(([name]) => name !== file)].slice(0, MOST));
  }

  async forget(file: string): Promise<void> {
    await this.store.update(KEY, this.all().filter(([name]) => name !== file));
  }

  private all(): readonly Place[] {
    const stored = this.store.get(KEY);
    return Array.isArray(stored) ? stored.filter((each): each is Place => Array.isArray(each) && each.length === 2 && each.every((part) => typeof part === 'string')) : [];
  }
}
