/** Who may do what: the account by its key, a sandbox by its token, a file by a signature made with that. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { RpcError } from './connect.js';
import type { Machine, TemplateInfo } from './machine.js';

/** Takes as long whatever is different. */
export function isSame(given: unknown, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(expected));
}

export function mayEnter({ envdAccessToken }: Machine, request: IncomingMessage, url: URL): boolean {
  return isSame(request.headers['x-access-token'], envdAccessToken) || isSigned(envdAccessToken, request, url);
}

/** Of one request for a file. */
export function isSigned(token: string, request: IncomingMessage, { pathname, searchParams }: URL): boolean {
  const signature = searchParams.get('signature');
  if (pathname !== '/files' || signature === null) return false;
  const expires = searchParams.get('signature_expiration');
  if (expires !== null && !(Number(expires) >= Date.now() / 1000)) return false;
  const parts = [searchParams.get('path') ?? '', request.method === 'GET' ? 'read' : 'write', searchParams.get('username') ?? '', token, ...(expires === null ? [] : [expires])];
  return isSame(signature, `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`);
}

/** @throws RpcError for a user that commands and files of the sandbox are not those of. `user` is what the protocol calls the one that is always there. */
export function checkUser({ user = 'root' }: TemplateInfo, request: IncomingMessage, url: URL): void {
  const basic = /^Basic (.*)$/i.exec(request.headers.authorization ?? '')?.[1];
  const asked = basic === undefined ? url.searchParams.get('username') : Buffer.from(basic, 'base64').toString().split(':')[0];
  if (asked && asked !== 'user' && asked !== user) throw new RpcError('unauthenticated', `everything in this sandbox is done as ${user}: '${asked}' cannot be used`);
}
