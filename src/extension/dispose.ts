/** Things that end with something else. What is registered after the end is ended at once. */
export interface Disposable {
  dispose(): unknown;
}

export abstract class Disposing implements Disposable {
  private readonly owned: Disposable[] = [];
  private disposed = false;

  protected own<T extends Disposable>(thing: T): T {
    if (this.disposed) thing.dispose();
    else this.owned.push(thing);
    return thing;
  }

  protected get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    for (const thing of this.owned.splice(0).reverse()) thing.dispose();
  }
}
