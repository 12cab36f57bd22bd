import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EpisodeLog } from '../../../src/store/episodeLog.js';
import type { EpisodeRecord } from '../../../src/store/records.js';

const execute = promisify(execFile);

describe('the log of episodes', function () {
  this.timeout(30_000);

  it('says that it is gone, where somebody removes it meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rl-log-'));
    const log = await EpisodeLog.open(join(folder, 'episodes.jsonl'));
    try {
      await log.append({ episode: 0 } as EpisodeRecord);
      await rm(folder, { recursive: true });
      await assert.rejects(log.append({ episode: 1 } as EpisodeRecord), /has been removed/);
    } finally {
      await log.close();
    }
  });

  it('keeps nothing of a line that had no room, so that the next one is whole', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rl-log-'));
    try {
      const file = join(folder, 'episodes.jsonl');
      const program = resolve('test/unit/store/appendsEpisodes.ts');
      // A limit on the size of files stands for a disk that is full: it, too, takes what fits and then says so.
      const { stdout } = await execute('bash', ['-c', 'ulimit -S -f 1024; exec "$0" --import=tsx "$1" "$2"', process.execPath, program, file]);
      assert.equal(stdout, 'kept EFBIG kept');
      const lines = (await readFile(file, 'utf8')).trim().split('\n').map((line) => (JSON.parse(line) as { episode: number }).episode);
      assert.deepEqual(lines, [0, 2]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
