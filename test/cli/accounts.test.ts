/** An account that cannot be used, from the command line: which of the reasons it is, in one sentence and an exit code, and nothing is run. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Workspace } from './support.js';

const KEY = 'key_that_nobody_has';
const REFUSED = { 401: 'no', 429: 'you have reached the maximum number of concurrent sandboxes' };

describe('an account that cannot be used', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  const servers: Server[] = [];
  const listen = async (status: keyof typeof REFUSED): Promise<string> => {
    const server = createServer((_request, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ code: status, message: REFUSED[status] })));
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  before(async () => (workspace = await Workspace.make()));
  after(async () => {
    for (const server of servers) server.close();
    await workspace?.remove();
  });

  const ACCOUNTS = {
    e2b: (url: string) => ({ E2B_API_KEY: KEY, E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_DOMAIN: '' }),
    beam: (url: string) => ({ BEAM_TOKEN: KEY, BEAM_GATEWAY_URL: url }),
  };

  for (const [provider, title] of [['e2b', 'E2B'], ['beam', 'Beam']] as const) {
    it(`${title}: a refused key, no network and no quota are told apart`, async () => {
      const file = await workspace.template(provider, `provider: ${provider}\nepisode:\n  run: "true"\n`);
      const nowhere = await listen(401);
      await new Promise((resolve) => servers.pop()!.close(resolve));
      const cases = [
        [await listen(401), 'wrong-key', /refuses the API key$/],
        [nowhere, 'no-network', /cannot be reached \(ECONNREFUSED\)$/],
        [await listen(429), 'quota', /the quota of the account is used up: .*maximum number of concurrent sandboxes$/],
      ] as const;
      for (const [url, problem, sentence] of cases) {
        const { code, stdout, stderr } = await workspace.start(['run', file, '--json'], ACCOUNTS[provider](url)).result;
        const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string; problem: string } };
        assert.deepEqual({ exit: code, code: error.code, problem: error.problem }, { exit: 3, code: 'ProviderUnavailable', problem });
        assert.match(error.message, new RegExp(`^${title} cannot be used: `));
        assert.match(error.message, sentence);
        assert.ok(error.hint.length > 10 && !(stdout + stderr).includes(KEY));
      }
      const { code, stdout } = await workspace.start(['doctor', '--provider', provider], ACCOUNTS[provider](nowhere)).result;
      assert.equal(code, 3);
      assert.match(stdout, new RegExp(`^no +${title}: .*cannot be reached`, 'm'));
      assert.match(stdout, new RegExp(`^${provider}, which was asked for, cannot be used\\.$`, 'm'));
    });
  }
});
