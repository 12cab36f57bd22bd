/** What can go wrong at E2B. */

export const FAULTS = {
  rateLimit: 'a request is answered 429 with Retry-After: 1',
  serverError: 'a request is answered 500 or 503, and nothing is done',
  reset: 'the connection breaks in the middle of the output of a command',
  truncate: 'a download, or the output of a command, ends early as if it were whole',
  slowCreate: 'a creation takes two seconds longer',
  lostReply: 'a sandbox is created, and the connection breaks before the answer',
  zombie: 'a created sandbox is listed as running and answers nothing',
  vanish: 'a sandbox ends while a request to it is under way',
} as const;

export type Fault = keyof typeof FAULTS;
