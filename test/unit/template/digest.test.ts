import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { askedDigests, sourceDigest, templateDigest, type DigestContext } from '../../../src/template/digest.js';
import { loadTemplate } from '../../../src/template/load.js';
import { parseTemplate } from '../../../src/template/parse.js';
import { TemplateError } from '../../../src/template/template.js';
import { skip } from '../../support/skip.js';

const CONTEXT: DigestContext = { provider: 'docker', platform: 'linux/amd64', base: 'sha256:1' };
const HEAD = 'name: a\nepisode: {run: x}\n';

async function digest(text: string, context = CONTEXT) {
  const { template, problems } = parseTemplate(text, '/envs/a.rlenv.yaml');
  assert.deepEqual(problems, []);
  return templateDigest(template!, context);
}

/** Names of the parts that differ; also checks that the whole differs if and only if a part does. */
async function changed(before: string, after: string, context = CONTEXT): Promise<string[]> {
  const [a, b] = [await digest(before), await digest(after, context)];
  const parts = Object.keys(a.parts).filter((part) => a.parts[part as keyof typeof a.parts] !== b.parts[part as keyof typeof b.parts]);
  assert.equal(a.digest === b.digest, parts.length === 0);
  return parts;
}

describe('templateDigest', () => {
  it('is SHA-256 in hex, whole and in parts', async () => {
    const { digest: whole, parts } = await digest(HEAD);
    assert.deepEqual(Object.keys(parts).sort(), ['env', 'files', 'image', 'network', 'packages', 'platform', 'provider', 'setup']);
    for (const hex of [whole, ...Object.values(parts), sourceDigest(HEAD)]) assert.match(hex, /^[0-9a-f]{64}$/);
  });

  it('does not change with the name, the episode, the reward, limits or comments', async () => {
    const other = '# other\nname: b\ndescription: x\nepisode: {python: y, seeds: 5, timeout: 1s}\nreward: {type: files}\nreward_range: [0, 1]\nartifacts: [/x]\nkeep_warm: 5m\nresources: {cpu: 2}\nnetwork: {episode: full}\n';
    assert.deepEqual(await changed(HEAD, other), []);
  });

  it('says which part changed', async () => {
    assert.deepEqual(await changed(HEAD, `${HEAD}setup: [{run: make}]`), ['setup']);
    assert.deepEqual(await changed(`${HEAD}setup: [{run: make}]`, `${HEAD}setup: [{python: make}]`), ['setup']);
    assert.deepEqual(await changed(`${HEAD}setup: [{run: a}, {run: b}]`, `${HEAD}setup: [{run: b}, {run: a}]`), ['setup']);
    assert.deepEqual(await changed(HEAD, `${HEAD}packages: {apt: [git]}`), ['packages']);
    assert.deepEqual(await changed(`${HEAD}packages: {apt: [six]}`, `${HEAD}packages: {python: [six]}`), ['packages']);
    assert.deepEqual(await changed(HEAD, `${HEAD}env: {A: 1}`), ['env']);
    assert.deepEqual(await changed(HEAD, `${HEAD}network: {setup: none}`), ['network']);
    assert.deepEqual(await changed(HEAD, HEAD, { ...CONTEXT, base: 'sha256:2' }), ['image']);
    assert.deepEqual(await changed(HEAD, HEAD, { ...CONTEXT, platform: 'linux/arm64' }), ['platform']);
    assert.deepEqual(await changed(HEAD, HEAD, { ...CONTEXT, provider: 'bubblewrap' }), ['provider']);
  });

  it('does not depend on the order of names, nor on how long a step may take', async () => {
    assert.deepEqual(await changed(`${HEAD}env: {A: 1, B: 2}`, `${HEAD}env: {B: 2, A: 1}`), []);
    assert.deepEqual(await changed(`${HEAD}packages: {apt: [a1, b1]}`, `${HEAD}packages: {apt: [b1, a1]}`), []);
    assert.deepEqual(await changed(`${HEAD}setup: [{run: make}]`, `${HEAD}setup: [{run: make, timeout: 5m}]`), []);
  });

  it('holds the names of secrets, and where they come from is no part of it', async () => {
    assert.deepEqual(await changed(HEAD, `${HEAD}secrets: [TOKEN]`), ['env']);
    assert.deepEqual(await changed(`${HEAD}secrets: [TOKEN]`, `${HEAD}secrets: {TOKEN: "\${env:OTHER}"}`), []);
  });
});

describe('digest of files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'rlenv-digest-')));
    await mkdir(path.join(folder, 'data/empty'), { recursive: true });
    await writeFile(path.join(folder, 'data/a'), 'one');
    await writeFile(path.join(folder, 'data/b'), 'two');
    await symlink('a', path.join(folder, 'data/link'));
    await writeFile(path.join(folder, 'a.rlenv.yaml'), `${HEAD}files: [{from: data, to: /data}]`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const at = (name: string) => path.join(folder, name);
  const files = async (signal?: AbortSignal) => (await templateDigest(await loadTemplate(at('a.rlenv.yaml')), { ...CONTEXT, signal })).parts.files;
  const changes = async (change: () => Promise<unknown>): Promise<boolean> => {
    const before = await files();
    await change();
    return (await files()) !== before;
  };

  it('changes with content, names, modes, link targets and empty folders', async () => {
    assert.ok(await changes(() => writeFile(at('data/a'), 'two')), 'content');
    assert.ok(await changes(() => rename(at('data/a'), at('data/c'))), 'name');
    assert.ok(await changes(() => chmod(at('data/b'), 0o755)), 'mode');
    assert.ok(await changes(() => rm(at('data/link')).then(() => symlink('b', at('data/link')))), 'link target');
    assert.ok(await changes(() => rm(at('data/empty'), { recursive: true })), 'empty folder');
    assert.ok(await changes(() => rm(at('data/link')).then(() => writeFile(at('data/link'), 'b'))), 'file in place of a link');
    assert.ok(await changes(() => writeFile(at('a.rlenv.yaml'), `${HEAD}files: [{from: data, to: /other}]`)), 'destination');
  });

  it('does not change with times, nor with what a link outside leads to', async () => {
    assert.equal(await changes(() => utimes(at('data/a'), 1, 1)), false);
    await writeFile(at('elsewhere'), '1');
    await symlink('../elsewhere', at('data/out'));
    assert.equal(await changes(() => writeFile(at('elsewhere'), '2')), false);
  });

  it('does not depend on the order in which files were made', async () => {
    const before = await files();
    await rm(at('data/a'));
    await rm(at('data/b'));
    await writeFile(at('data/b'), 'two');
    await writeFile(at('data/a'), 'one');
    assert.equal(await files(), before);
  });

  it('tells contents apart that are cut in another place', async () => {
    await writeFile(at('data/a'), 'onetw');
    const first = await files();
    await writeFile(at('data/a'), 'one');
    await writeFile(at('data/b'), 'twtwo');
    assert.notEqual(await files(), first);
  });

  it('refuses a pipe without waiting for it', async function () {
    if (process.platform === 'win32') return skip(this, 'Windows has no named pipes in folders');
    execFileSync('mkfifo', [at('data/pipe')]);
    await assert.rejects(files(), (error) => {
      assert.ok(error instanceof TemplateError);
      assert.match(error.problems[0]!.message, /data\/pipe" is a device, pipe or socket: only files, folders and links can be copied into a sandbox$/);
      assert.equal(error.problems[0]!.path, 'files[0].from');
      return true;
    });
  });

  it('stops when it is told to', async () => {
    await assert.rejects(files(AbortSignal.abort()), { name: 'AbortError' });
  });
});

describe('what is asked of a run', () => {
  let folder: string;
  beforeEach(async () => (folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'asked-')))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const asked = async (text: string, scorers: readonly string[] = [], place = folder) => {
    await writeFile(path.join(place, 'a.rlenv.yaml'), text);
    return askedDigests(await loadTemplate(path.join(place, 'a.rlenv.yaml')), scorers);
  };
  const changes = (a: Awaited<ReturnType<typeof asked>>, b: typeof a) => (['episode', 'reward'] as const).filter((part) => a[part] !== b[part]);

  it('tells another verifier from another episode, and neither from another number of seeds', async () => {
    const before = await asked(HEAD);
    assert.deepEqual(changes(before, await asked('name: b\nepisode: {run: x, seeds: 9, samples: 2, timeout: 5s}\n')), []);
    assert.deepEqual(changes(before, await asked('name: a\nepisode: {run: y}\n')), ['episode']);
    assert.deepEqual(changes(before, await asked(`${HEAD}reward: exit_code\n`)), ['reward']);
    assert.deepEqual(changes(before, await asked(`${HEAD}reward_range: [0, 1]\n`)), ['reward']);
    assert.deepEqual(changes(before, await asked(HEAD, ['another build of a second sandbox'])), ['reward']);
  });

  it('holds the files of this machine that score, wherever the folder lies', async () => {
    const text = `${HEAD}reward:\n  - { type: diff, path: /a, expected: wanted.txt }\n  - { type: scorer, command: [python3, judge.py], files: [/a] }\n`;
    const write = async (place: string, wanted: string, judge: string) => {
      await writeFile(path.join(place, 'wanted.txt'), wanted);
      await writeFile(path.join(place, 'judge.py'), judge);
    };
    await write(folder, 'one', 'print(1)');
    const before = await asked(text);
    await mkdir(path.join(folder, 'elsewhere'));
    await write(path.join(folder, 'elsewhere'), 'one', 'print(1)');
    assert.deepEqual(changes(before, await asked(text, [], path.join(folder, 'elsewhere'))), []);
    await write(folder, 'two', 'print(1)');
    assert.deepEqual(changes(before, await asked(text)), ['reward']);
    await write(folder, 'one', 'print(2)');
    assert.deepEqual(changes(before, await asked(text)), ['reward']);
  });
});
