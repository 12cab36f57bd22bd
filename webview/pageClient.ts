import { type RequestMap, RpcClient } from './rpc.js';
import { vscodeApi } from './vscodeApi.js';

/** The client of this page. */
export function pageClient<R extends RequestMap<R>, N>(): RpcClient<R, N> {
  return new RpcClient<R, N>({
    post: (message) => vscodeApi.postMessage(message),
    listen: (receive) => window.addEventListener('message', (event) => receive(event.data)),
  });
}
