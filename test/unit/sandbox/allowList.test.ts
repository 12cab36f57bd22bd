import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { Unsupported } from '../../../src/sandbox/errors.js';
import { isPublic } from '../../../src/sandbox/network/addresses.js';
import { AllowList } from '../../../src/sandbox/network/allowList.js';

const never = (name: string): never => assert.fail(`${name} was looked up`);
const found = (...addresses: string[]) => () => Promise.resolve(addresses);
const { signal } = new AbortController();

async function verdict(entries: readonly string[], host: string, port: number, lookup: (name: string) => Promise<string[]> = never): Promise<string> {
  const answer = await new AllowList(entries).admit(host, port, lookup, signal);
  return 'refused' in answer ? answer.refused : answer.addresses.join();
}
const NOT_IN_IT = 'is not in the list of allowed hosts';
const PUBLIC = '93.184.216.34';

describe('a list of allowed hosts', () => {
  it('takes a name on ports 80 and 443, or on its own', async () => {
    for (const [entry, host, port, expected] of [
      ['site.org', 'site.org', 443, PUBLIC],
      ['site.org', 'SiTE.org.', 80, PUBLIC],
      ['site.org', 'site.org', 8443, 'is allowed on port 80 and 443 only'],
      ['site.org:8443', 'site.org', 8443, PUBLIC],
      ['site.org:8443', 'site.org', 443, 'is allowed on port 8443 only'],
      ['site.org', 'files.site.org', 443, NOT_IN_IT],
      ['site.org', 'evilsite.org', 443, NOT_IN_IT],
      ['site.org', 'site.org.evil.com', 443, NOT_IN_IT],
      ['*.example.com', 'a.b.example.com', 443, PUBLIC],
      ['*.example.com', 'example.com', 443, NOT_IN_IT],
      ['*.example.com', '.example.com', 443, NOT_IN_IT],
      ['*.example.com', 'a..example.com', 443, NOT_IN_IT],
      ['*.example.com', 'evilexample.com', 443, NOT_IN_IT],
    ] as const)
      assert.equal(await verdict([entry], host, port, expected === PUBLIC ? found(PUBLIC) : never), expected, `${host}:${port} with ${entry}`);
  });

  it('takes addresses as such only, and never looks one up', async () => {
    assert.equal(await verdict(['10.0.0.5'], '10.0.0.5', 443), '10.0.0.5');
    assert.equal(await verdict(['10.0.0.0/8:9000'], '10.200.3.4', 9000), '10.200.3.4');
    assert.equal(await verdict(['10.0.0.0/8'], '11.0.0.1', 80), NOT_IN_IT);
    assert.equal(await verdict(['[2001:db8::1]:8080'], '2001:db8::1', 8080), '2001:db8::1');
    assert.equal(await verdict(['site.org'], PUBLIC, 443), NOT_IN_IT);
    for (const odd of ['127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1']) assert.equal(await verdict(['*.0.0.1.example.com', '127.0.0.1'], odd, 80), NOT_IN_IT, odd);
  });

  it('lets no name lead to an address that only this machine or its network can reach, unless that has an entry', async () => {
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '168.63.129.16', '100.100.100.200', '0.0.0.0', '::1', '::ffff:127.0.0.1', 'fe80::1', 'fd00:ec2::254', '64:ff9b::7f00:1', '2002:7f00:1::'])
      assert.match(await verdict(['rebound.example.com'], 'rebound.example.com', 443, found(address)), /^leads to .* which is no public address/, address);
    assert.equal(await verdict(['rebound.example.com'], 'rebound.example.com', 443, found('10.1.2.3', PUBLIC)), PUBLIC, 'what is judged is what is connected to');
    assert.equal(await verdict(['git.corp', '10.0.0.0/8'], 'git.corp', 443, found('10.1.2.3')), '10.1.2.3');
    assert.match(await verdict(['git.corp', '10.0.0.0/8:80'], 'git.corp', 443, found('10.1.2.3')), /^leads to/);
  });

  it('counts the addresses of this machine among its own, whatever they are', () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    assert.ok(own.length > 0);
    for (const { address } of own) assert.equal(isPublic(address), false, address);
    assert.equal(isPublic(PUBLIC), true);
    assert.equal(isPublic('2606:2800:220:1:248:1893:25c8:1946'), true);
  });

  it('refuses entries that are none', () => {
    for (const entry of ['', '*', '*.', 'a b', 'http://a.b', 'a.b/c', 'a.b:0', 'a.b:65536', '10.0.0.0/33', '[::1', '[1.2.3.4]', '1.2.3', 'a.5', 'a..b', '*.*.a', 'a.*.b'])
      assert.throws(() => new AllowList([entry]), Unsupported, entry);
  });
});
