/** What can go wrong at E2B. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from '../faults.js';

export const FAULTS = {
  rateLimit: 'a request is answered 429 with Retry-After: 1',
  serverError: 'a request is answered 500 or 503, and nothing is done',
  reset: 'the connection breaks in the middle of the output of a command',
  truncate: 'a download, or the output of a command, ends early as if it were whole',
  slowCreate: 'a creation takes two seconds longer',
  lostReply: 'a sandbox is created, and the connection breaks before the answer',
  zombie: 'a created sandbox is listed as running and answers nothing',
  coldStart: 'a sandbox is started anew from the bare root instead of from its snapshot',
  vanish: 'a sandbox ends while a request to it is under way',
} as const;

export type Fault = keyof typeof FAULTS;

/** Lets faults strike at a request, and at what is going to be answered. True if it has been answered. */
export function disturb(faults: Faults<Fault>, control: boolean, request: IncomingMessage, response: ServerResponse, path: string): boolean {
  if (faults.strikes('rateLimit')) {
    say(response, 429, { code: control ? 429 : 'resource_exhausted', message: 'rate limit exceeded' }, { 'retry-after': '1' });
    return true;
  }
  if (faults.strikes('serverError')) {
    say(response, control && Math.trunc(Date.now()) % 2 ? 503 : 500, { code: control ? 500 : 'internal', message: 'something broke' });
    return true;
  }
  if (control && request.method === 'POST' && path === '/v2/sandboxes') {
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
    response.writeHead = ((status: number, ...rest: unknown[]) => (status === 201 && faults.strikes('lostReply') ? response.destroy() : writeHead(status, ...rest)));
  }
  const download = request.method === 'GET' && path === '/files';
  if (download ? faults.strikes('truncate') : /^\/process\.Process\/(Start|Connect)$/.test(path)) {
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    response.write = ((chunk: Buffer, ...rest: unknown[]) => {
      if (download) response.destroy();
      else if (!chunk.includes('"data"')) return write(chunk, ...rest);
      else if (faults.strikes('reset')) response.destroy();
      else if (faults.strikes('truncate')) response.end();
      return response.destroyed || response.writableEnded ? false : write(chunk, ...rest);
    }) as typeof response.write;
  }
  return false;
}

function say(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
