/** The bubblewrap provider of the user that runs the tests, in a folder of its own. */
import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider } from '../../../src/sandbox/bubblewrap/index.js';
import type { Subject } from '../conformance.js';

export const asRoot = process.getuid?.() === 0;

export async function bubblewrapSubject(): Promise<Subject> {
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-bubblewrap-'));
  return {
    provider: createProvider({ stateDir, log: console.error }),
    base: {},
    context: { stateDir },
    assertNothingLeft: async (id) => {
      assert.deepEqual(await processesOf(id), []);
      assert.ok(!(await readFile('/proc/self/mountinfo', 'utf8')).includes(stateDir), 'a mount is left in our own namespace');
      for (const folder of ['sandboxes', 'work']) {
        const names = await readdir(join(stateDir, folder)).catch(() => []);
        assert.ok(!names.some((name) => name.startsWith(id)), `${folder}: ${names.join()}`);
      }
    },
    close: () => rm(stateDir, { recursive: true, force: true }),
  };
}

/** Command lines on the host that name a sandbox. */
export async function processesOf(id: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.split('\0').includes(id));
}
