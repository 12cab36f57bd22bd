import assert from 'node:assert/strict';
import type { RunViewNotifications, RunViewRequests } from '../../src/protocol/runView.js';
import { type Port, RequestError, RpcClient } from '../../webview/rpc.js';

function client() {
  const posted: Parameters<Port['post']>[0][] = [];
  let receive: (message: unknown) => void = () => undefined;
  const rpc = new RpcClient<RunViewRequests, RunViewNotifications>({ post: (message) => posted.push(message), listen: (listener) => (receive = listener) });
  return { rpc, posted, answer: (message: unknown) => receive(message) };
}

describe('requests of the run view', () => {
  it('are answered in any order', async () => {
    const { rpc, posted, answer } = client();
    const first = rpc.request('episode', { episode: 1 });
    const second = rpc.request('episode', { episode: 2 });
    answer({ id: posted[1]!.id, result: 'two' });
    answer({ id: posted[0]!.id, result: 'one' });
    assert.deepEqual(await Promise.all([first, second]), ['one', 'two']);
  });

  it('fail as the extension says', async () => {
    const { rpc, posted, answer } = client();
    const request = rpc.request('snapshot', undefined);
    answer({ id: posted[0]!.id, error: 'the run is gone' });
    await assert.rejects(request, new RequestError('the run is gone'));
  });

  it('fail when nobody answers in time', async () => {
    const { rpc } = client();
    await assert.rejects(rpc.request('snapshot', undefined, { timeoutMs: 10 }), /no answer within 0.01 s/);
  });

  it('can be dropped, before and after they are sent; the answer then is ignored', async () => {
    const { rpc, posted, answer } = client();
    const stop = new AbortController();
    const request = rpc.request('snapshot', undefined, { signal: stop.signal });
    stop.abort(new Error('stale'));
    answer({ id: posted[0]!.id, result: 1 });
    await assert.rejects(request, /stale/);
    await assert.rejects(rpc.request('snapshot', undefined, { signal: stop.signal }), /stale/);
    assert.equal(posted.length, 1);
  });

  it('are not disturbed by messages of others', () => {
    const { rpc, answer } = client();
    const seen: unknown[] = [];
    rpc.on('show', ({ episode }) => seen.push(episode));
    for (const message of [null, 'x', 7, {}, { id: 99, result: 1 }, { method: 'show' }, { method: 'changed', params: {} }, { method: 'constructor', params: {} }]) answer(message);
    answer({ method: 'show', params: { episode: 3 } });
    assert.deepEqual(seen, [3]);
  });
});
