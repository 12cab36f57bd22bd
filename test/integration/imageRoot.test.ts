/** A container image as the root of a bubblewrap sandbox: Docker has the files, and is not needed to run them. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDocker } from '../../scripts/setup/docker.mjs';
import { createProvider } from '../../src/sandbox/bubblewrap/index.js';
import { BuildFailed, ProviderUnavailable } from '../../src/sandbox/errors.js';
import { skip } from '../support/skip.js';
import { Bench, output } from './conformance/bench.js';

describe('bubblewrap in a container image', function () {
  this.timeout(120_000);
  const bench = new Bench();
  let image: string;
  let host: string;

  before(async function () {
    this.timeout(600_000);
    const docker = await ensureDocker();
    if (docker.host === undefined || docker.baseImage === undefined) return skip(this, docker.missing ?? 'there is no Docker engine');
    image = docker.baseImage;
    host = process.env.DOCKER_HOST = docker.host;
    const stateDir = await mkdtemp(join(tmpdir(), 'rl-image-'));
    await bench.start({
      provider: createProvider({ stateDir, log: console.error }),
      base: { image },
      context: { stateDir },
      close: async () => {
        await rm(stateDir, { recursive: true, force: true });
        await docker.stop();
      },
    });
  });
  after(() => bench.stop());
  afterEach(() => {
    process.env.DOCKER_HOST = host;
    return bench.terminateAll();
  });

  it('runs in the files of the image, all of which can be written to', async () => {
    const sandbox = await bench.restore();
    assert.match(await output(sandbox, 'cat /etc/os-release'), /debian/i);
    assert.equal(await output(sandbox, 'cat /srv/task/state; echo x > /usr/new; rm -r /usr/share/doc; cat /usr/new; [ -e /usr/share/doc ] || echo gone'), 'prepared\nx\ngone\n');
    assert.equal(await output(await bench.restore(), '[ -e /usr/share/doc ] && echo there'), 'there\n');
  });

  it('needs no engine once the snapshot is there', async () => {
    process.env.DOCKER_HOST = 'unix:///nowhere/docker.sock';
    assert.equal(await output(await bench.restore(), 'cat /srv/task/state'), 'prepared\n');
    await assert.rejects(bench.provider.resolve({ image }), ProviderUnavailable);
  });

  it('knows the image by its digest, with and without `docker:`', async () => {
    const digest = await bench.provider.resolve({ image });
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.equal(await bench.provider.resolve({ image: `docker:${image}` }), digest);
    await assert.rejects(bench.provider.resolve({ image: 'rl-sandboxes-test/no-such-image:none' }), BuildFailed);
  });
});
