import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEndpoints, parseHost, type Surroundings } from '../../../src/sandbox/docker/endpoint.js';
import { WrongContext } from '../../../src/sandbox/docker/contexts.js';
import { sshArguments } from '../../../src/sandbox/docker/dialStdio.js';

describe('docker endpoint', () => {
  let home: string;
  const servers: Server[] = [];
  const around = (env: NodeJS.ProcessEnv = {}, platform: NodeJS.Platform = 'linux'): Surroundings => ({ env, home, platform });
  const config = async (value: unknown): Promise<void> => {
    await mkdir(join(home, '.docker'), { recursive: true });
    await writeFile(join(home, '.docker/config.json'), typeof value === 'string' ? value : JSON.stringify(value));
  };
  const context = async (name: string, meta: unknown, folder = join(home, '.docker')): Promise<string> => {
    const id = createHash('sha256').update(name).digest('hex');
    await mkdir(join(folder, 'contexts/meta', id), { recursive: true });
    await writeFile(join(folder, 'contexts/meta', id, 'meta.json'), JSON.stringify(meta));
    return id;
  };
  const socket = async (path: string): Promise<void> => {
    await mkdir(join(path, '..'), { recursive: true });
    const server = createServer().listen(path);
    await once(server, 'listening');
    servers.push(server);
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'rle-'));
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await rm(home, { recursive: true });
  });

  it('is DOCKER_HOST before all else', async () => {
    await config({ currentContext: 'missing' });
    const [endpoint, ...others] = await findEndpoints(around({ DOCKER_HOST: 'tcp://10.0.0.5:4000', DOCKER_CONTEXT: 'missing' }));
    assert.deepEqual(others, []);
    assert.deepEqual(endpoint, { url: 'tcp://10.0.0.5:4000', why: 'DOCKER_HOST', transport: { kind: 'tcp', host: '10.0.0.5', port: 4000, tls: undefined } });
  });

  it('is the context of DOCKER_CONTEXT, then that of the configuration', async () => {
    await context('one', { Name: 'one', Endpoints: { docker: { Host: 'unix:///one.sock' } } });
    await context('two', { Name: 'two', Endpoints: { docker: { Host: 'ssh://me@far:2222' } } });
    await config({ currentContext: 'one' });
    assert.equal((await findEndpoints(around()))[0]!.url, 'unix:///one.sock');
    const [two] = await findEndpoints(around({ DOCKER_CONTEXT: 'two' }));
    assert.deepEqual(two, { url: 'ssh://me@far:2222', why: 'context "two"', transport: { kind: 'ssh', host: 'far', port: '2222', user: 'me', remoteSocket: undefined } });
    const elsewhere = join(home, 'elsewhere');
    await context('three', { Endpoints: { docker: { Host: 'tcp://three:1' } } }, elsewhere);
    assert.equal((await findEndpoints(around({ DOCKER_CONTEXT: 'three', DOCKER_CONFIG: elsewhere })))[0]!.url, 'tcp://three:1');
  });

  it('takes the TLS files of a context', async () => {
    const id = await context('safe', { Endpoints: { docker: { Host: 'tcp://safe:2376', SkipTLSVerify: false } } });
    const folder = join(home, '.docker/contexts/tls', id, 'docker');
    await mkdir(folder, { recursive: true });
    for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, `${name}.pem`), name.toUpperCase());
    const [endpoint] = await findEndpoints(around({ DOCKER_CONTEXT: 'safe' }));
    assert.deepEqual(endpoint!.transport, { kind: 'tcp', host: 'safe', port: 2376, tls: { ca: 'CA', cert: 'CERT', key: 'KEY', skipVerify: false } });
  });

  it('fails loudly where a named context is missing, and never takes another engine', async () => {
    await socket(join(home, 'run/docker.sock'));
    for (const env of [{ DOCKER_CONTEXT: 'gone', XDG_RUNTIME_DIR: join(home, 'run') }, { XDG_RUNTIME_DIR: join(home, 'run') }]) {
      await config({ currentContext: 'gone' });
      await assert.rejects(findEndpoints(around(env)), (error: Error) => error instanceof WrongContext && /context "gone" does not exist/.test(error.message));
    }
    await config('{ not JSON');
    await assert.rejects(findEndpoints(around()), /config\.json is not valid JSON/);
    await context('odd', { Endpoints: {} });
    await assert.rejects(findEndpoints(around({ DOCKER_CONTEXT: 'odd' })), /has no Docker endpoint/);
  });

  it('without any of them is the first socket that is there', async () => {
    await config({ currentContext: 'default' });
    await socket(join(home, 'run/podman/podman.sock'));
    await socket(join(home, '.docker/run/docker.sock'));
    const found = (await findEndpoints(around({ XDG_RUNTIME_DIR: join(home, 'run') }))).filter(({ url }) => url.includes(home));
    assert.deepEqual(found.map(({ url, why }) => [url, why]), [
      [`unix://${home}/.docker/run/docker.sock`, 'Docker Desktop socket'],
      [`unix://${home}/run/podman/podman.sock`, 'Podman socket'],
    ]);
    const windows = await findEndpoints(around({}, 'win32'));
    assert.deepEqual(windows.map(({ transport }) => transport), [{ kind: 'socket', path: '//./pipe/docker_engine' }]);
  });

  it('switches TLS on as Docker does', async () => {
    await mkdir(join(home, 'certs'));
    await writeFile(join(home, 'certs/ca.pem'), 'CA');
    const transport = async (env: NodeJS.ProcessEnv) => (await findEndpoints(around({ DOCKER_HOST: 'tcp://h', DOCKER_CERT_PATH: join(home, 'certs'), ...env })))[0]!.transport;
    assert.deepEqual(await transport({}), { kind: 'tcp', host: 'h', port: 2375, tls: undefined });
    assert.deepEqual(await transport({ DOCKER_TLS_VERIFY: '1' }), { kind: 'tcp', host: 'h', port: 2376, tls: { ca: 'CA', cert: undefined, key: undefined, skipVerify: false } });
    assert.deepEqual(await transport({ DOCKER_TLS: '1' }), { kind: 'tcp', host: 'h', port: 2376, tls: { ca: 'CA', cert: undefined, key: undefined, skipVerify: true } });
  });

  it('reads addresses, and says what is wrong with one', () => {
    assert.deepEqual(parseHost('unix:///var/run/docker.sock', 'x'), { kind: 'socket', path: '/var/run/docker.sock' });
    assert.deepEqual(parseHost('npipe:////./pipe/docker_engine', 'x'), { kind: 'socket', path: '//./pipe/docker_engine' });
    assert.deepEqual(parseHost('localhost:1234', 'x'), { kind: 'tcp', host: 'localhost', port: 1234, tls: undefined });
    assert.deepEqual(parseHost('tcp://[::1]:80', 'x'), { kind: 'tcp', host: '::1', port: 80, tls: undefined });
    assert.deepEqual(parseHost('ssh://host/run/user/1000/docker.sock', 'x'), { kind: 'ssh', host: 'host', port: undefined, user: undefined, remoteSocket: '/run/user/1000/docker.sock' });
    for (const wrong of ['unix://', 'ftp://x', 'tcp://', 'tcp://:::', 'ssh://']) assert.throws(() => parseHost(wrong, 'DOCKER_HOST'), /DOCKER_HOST holds ".*", which is no address/, wrong);
  });

  it('never lets an ssh host be taken for an option', () => {
    const args = sshArguments({ kind: 'ssh', host: '-oProxyCommand=x', user: 'me', port: '22' });
    assert.deepEqual(args.slice(args.indexOf('--')), ['--', '-oProxyCommand=x', 'docker', 'system', 'dial-stdio']);
  });
});
