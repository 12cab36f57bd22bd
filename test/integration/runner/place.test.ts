/** The private folder: what is refused, and what is made of one whose name is long. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRunner } from '../../../src/runner/connect.js';
import { checkPrivate, findPlace, makePrivate, placeIn, UnsafeFolder } from '../../../src/runner/place.js';
import { skip } from '../../support/skip.js';
import { Home, SCRIPT } from './home.js';

describe('the runner\'s folder', function () {
  this.timeout(60_000);
  let parent: string;
  beforeEach(async () => (parent = await mkdtemp(join(tmpdir(), 'place-'))));
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const refused = (place: { folder: string }, message: RegExp) => assert.rejects(makePrivate(placeIn(place.folder)), (error: Error) => error instanceof UnsafeFolder && message.test(error.message));

  it('is made for its owner alone', async () => {
    const place = placeIn(join(parent, 'a', 'b'));
    assert.equal(await checkPrivate(place), false);
    await makePrivate(place);
    assert.equal((await stat(place.folder)).mode & 0o777, 0o700);
    assert.equal(await checkPrivate(place), true);
  });

  it('is refused if others may enter it, with what to do', async () => {
    const folder = join(parent, 'open');
    await mkdir(folder);
    for (const mode of [0o755, 0o710, 0o701]) {
      await chmod(folder, mode);
      await refused({ folder }, new RegExp(`others may enter ${folder} \\(its mode is 0${mode.toString(8)}\\): run \`chmod 700 `));
    }
    await chmod(folder, 0o700);
    await makePrivate(placeIn(folder));
  });

  it('is refused if it is a link, or no folder', async () => {
    await mkdir(join(parent, 'real'), { mode: 0o700 });
    await symlink(join(parent, 'real'), join(parent, 'link'));
    await refused({ folder: join(parent, 'link') }, /is a link; remove it, or name another folder in RL_SANDBOXES_RUNTIME_DIR/);
    await writeFile(join(parent, 'file'), '');
    await refused({ folder: join(parent, 'file') }, /is no folder/);
  });

  it('is refused if it belongs to another user, by client, runner and command line', async function () {
    if (process.getuid!() !== 0) skip(this, 'only root can give a folder to another user');
    const home = await Home.make();
    try {
      const { folder } = home.place;
      await mkdir(folder, { mode: 0o700 });
      await chown(folder, 12345, 12345);
      await refused({ folder }, /belongs to another user \(12345\), who could pose as the engine/);
      await assert.rejects(connectRunner(await home.options()), UnsafeFolder);
      await assert.rejects(connectRunner(await home.options({ start: undefined })), UnsafeFolder);
      await assert.rejects(home.cli(['runner', 'status']), /belongs to another user/);
      assert.deepEqual(await home.runners(), []);
    } finally {
      await rm(home.folder, { recursive: true });
    }
  });

  it('is found by its variable, then the session\'s folder if that is the user\'s, then among temporary files', async () => {
    const mine = join(parent, 'run');
    await mkdir(mine);
    assert.equal((await findPlace({ RL_SANDBOXES_RUNTIME_DIR: join(parent, 'x'), XDG_RUNTIME_DIR: mine })).folder, join(parent, 'x'));
    assert.equal((await findPlace({ XDG_RUNTIME_DIR: mine, TMPDIR: parent })).folder, join(mine, 'rl-sandboxes'));
    const fallback = join(parent, `rl-sandboxes-${process.getuid!()}`);
    assert.equal((await findPlace({ XDG_RUNTIME_DIR: join(parent, 'nowhere'), TMPDIR: parent })).folder, fallback);
    assert.equal((await findPlace({ TMPDIR: parent })).folder, fallback);
  });

  it('stands in for one whose socket would have too long a path, each for its own', async () => {
    const long = join(parent, 'long-'.repeat(30));
    const [one, other] = [placeIn(join(long, 'one')), placeIn(join(long, 'other'))];
    for (const { socket } of [one, other]) assert.ok(Buffer.byteLength(socket) <= 103, socket);
    assert.notEqual(one.folder, other.folder);
    assert.equal(placeIn(join(long, 'one')).folder, one.folder);
    const home = await Home.make();
    try {
      // By an environment with a long TMPDIR, as a real caller has it.
      const place = await findPlace({ TMPDIR: long });
      const options = await home.options({ place, start: { execPath: process.execPath, script: SCRIPT } });
      const connection = (await connectRunner(options))!;
      const { pid } = connection.welcome;
      await connection.client.request('shutdown', {});
      await connection.closed;
      assert.ok(pid > 0);
      await rm(place.folder, { recursive: true });
    } finally {
      await home.remove();
    }
  });
});
