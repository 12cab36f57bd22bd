/** What a page in a webview gets of VS Code, with a stub in its place. Runs in the page. */

/** State is kept under `key` as long as the page's tab, as VS Code keeps it over a reload of the window; `unsaved` as where the window died before it was. */
export function standIn(stub: { receive(message: unknown): void }, key: string, unsaved = false): void {
  Object.assign(window, {
    acquireVsCodeApi: () => ({
      postMessage: (message: unknown) => stub.receive(structuredClone(message)),
      getState: () => (JSON.parse(sessionStorage.getItem(key) ?? 'null') as unknown) ?? undefined,
      setState: (state: unknown) => void (unsaved || sessionStorage.setItem(key, JSON.stringify(state))),
    }),
  });
  performance.mark('host-ready');
}
