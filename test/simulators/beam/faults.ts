/** What can go wrong at Beam. */

export const FAULTS = {
  rateLimit: 'a request is answered 429 with Retry-After: 1',
  serverError: 'a request is answered 500 or 503, and nothing is done',
  reset: 'the connection breaks in the middle of an answer',
  truncate: 'a download, or the output of a command, ends early as if it were whole',
  slowCreate: 'a sandbox takes two seconds longer until it is there',
  lostReply: 'a sandbox is created, and the connection breaks before the answer',
  zombie: 'a created sandbox is listed as running and runs nothing',
  vanish: 'a sandbox ends while a request to it is under way',
  snapshotFails: 'a snapshot is refused',
  coldStart: 'a sandbox is started anew instead of from its snapshot: one of a checkpoint from its image, any other one from a bare root',
  duplicateImage: 'a snapshot of the file system is given the name of an earlier one',
  noNames: 'what is asked about a stub is refused, with 401',
} as const;

export type Fault = keyof typeof FAULTS;
