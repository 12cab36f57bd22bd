/** What VS Code gives the page of a webview. It can be asked for only once, so everyone asks here. */
export interface VsCodeApi {
  postMessage(message: unknown): void;
  /** What was last kept with `setState`, also after the page was hidden or the window reloaded. */
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export const vscodeApi: VsCodeApi = acquireVsCodeApi();
