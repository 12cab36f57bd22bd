/** What a test run writes while it goes on, one JSON object on a line: whoever reads it knows what had not ended when the run died. */
export type TestEvent =
  | { readonly type: 'start'; readonly title: string }
  | { readonly type: 'pass'; readonly title: string; readonly file?: string; readonly ms: number }
  /** `error` is for people: message, difference and stack. A failed hook has its name in `title`, and no `start`. */
  | { readonly type: 'fail'; readonly title: string; readonly file?: string; readonly ms: number; readonly error: string }
  /** An attempt that failed where another one follows; the test then passes or fails. */
  | { readonly type: 'retry'; readonly title: string; readonly file?: string; readonly ms: number; readonly error: string }
  | { readonly type: 'skip'; readonly title: string; readonly file?: string; readonly reason: string }
  /** The last line of a run that was not cut short. */
  | { readonly type: 'end' };
