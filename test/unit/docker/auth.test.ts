import { strict as assert } from 'node:assert';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allRegistryAuths, registryAuth, registryOf } from '../../../src/sandbox/docker/auth.js';
import { progressEvents, progressText, Tail } from '../../../src/sandbox/docker/progress.js';
import { Readable } from 'node:stream';

describe('docker registries', () => {
  it('are read off a reference', () => {
    const hub = 'https://index.docker.io/v1/';
    for (const [reference, registry] of [['debian', hub], ['debian:12', hub], ['me/app', hub], ['ghcr.io/me/app:1', 'ghcr.io'], ['localhost/app', 'localhost'], ['host:5000/app', 'host:5000']]) assert.equal(registryOf(reference!), registry);
  });

  it('get the credentials of `docker login`, from the file or from a helper', async function () {
    if (process.platform === 'win32') this.skip();
    const home = await mkdtemp(join(tmpdir(), 'rla-'));
    const path = process.env.PATH;
    try {
      await mkdir(join(home, '.docker'));
      const around = { env: {}, home, platform: process.platform };
      assert.equal(await registryAuth('ghcr.io', around), undefined);
      await writeFile(join(home, '.docker/config.json'), JSON.stringify({ auths: { 'ghcr.io': { auth: Buffer.from('me:pass:word').toString('base64') }, empty: {} }, credHelpers: { 'host:5000': 'test' } }));
      await writeFile(join(home, 'docker-credential-test'), '#!/bin/sh\nread -r server; echo "{\\"ServerURL\\":\\"$server\\",\\"Username\\":\\"<token>\\",\\"Secret\\":\\"for $server\\"}"\n');
      await chmod(join(home, 'docker-credential-test'), 0o755);
      process.env.PATH = `${home}:${path}`;
      assert.deepEqual(await allRegistryAuths(around), {
        'ghcr.io': { username: 'me', password: 'pass:word', serveraddress: 'ghcr.io' },
        'host:5000': { identitytoken: 'for host:5000', serveraddress: 'host:5000' },
      });
    } finally {
      process.env.PATH = path;
      await rm(home, { recursive: true });
    }
  });
});

describe('docker progress', () => {
  it('is read line by line, whatever the chunks and the text', async () => {
    const text = '{"stream":"ünï \u2028 🎲\\n"}\r\n{"status":"Downloading","id":"a","progressDetail":{"current":1}}\n\n{"status":"Pull complete","id":"a","progressDetail":{}}\n{"aux":{"ID":"sha256:1"}}';
    const bytes = Buffer.from(text);
    const events = [];
    for await (const event of progressEvents(Readable.from((function* () { for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3); })()))) events.push(event);
    assert.equal(events.length, 4);
    assert.deepEqual(events.map(progressText), ['ünï \u2028 🎲\n', '', 'a: Pull complete\n', '']);
  });

  it('keeps the end of what was said', () => {
    const tail = new Tail(50);
    for (let line = 0; line < 100; line++) tail.add(`line ${line}\n`);
    assert.equal(tail.lines(2), 'line 98\nline 99');
  });
});
