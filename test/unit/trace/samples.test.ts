import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openTrace } from '../../../src/trace/open.js';
import { skip } from '../../support/skip.js';

const SAMPLES = resolve(process.env.RL_SAMPLES ?? '../shared/samples');

/** What is known of each file, looked up in it by hand: format, steps, reward, traces in the file. A problem that is meant is named. */
const KNOWN: Record<string, { format: string; steps: number; reward?: number | null; members?: number; problem?: RegExp }> = {
  'atif/hello-world-context-summarization.trajectory.json': { format: 'atif', steps: 10, problem: /the subagent "trajectory.summarization-1-\w+.json" cannot be read: there is no such file/ },
  'atif/hello-world-context-summarization.trajectory.summarization-1-answers.json': { format: 'atif', steps: 7 },
  'atif/hello-world-context-summarization.trajectory.summarization-1-questions.json': { format: 'atif', steps: 2 },
  'atif/hello-world-context-summarization.trajectory.summarization-1-summary.json': { format: 'atif', steps: 5 },
  'atif/hello-world-invalid-json.trajectory.json': { format: 'atif', steps: 5 },
  'atif/hello-world-timeout.trajectory.json': { format: 'atif', steps: 4 },
  'harbor-trial': { format: 'harbor', steps: 7, reward: 0 },
  'harbor-trial/task-calendar__8A83BnJ/result.json': { format: 'harbor', steps: 7, reward: 0 },
  'inspect/docent-log.eval': { format: 'inspect', steps: 12, reward: 0, members: 15 },
  'inspect/log_formats.json': { format: 'inspect', steps: 3, reward: 0 },
  'inspect/log_images.json': { format: 'inspect', steps: 3, reward: 0 },
  'inspect/log_read_sample.eval': { format: 'inspect', steps: 3, reward: 1 },
  'inspect/log_streaming.chunked-zstd.eval': { format: 'inspect', steps: 3, reward: 0, members: 4 },
  'inspect/log_streaming.eval': { format: 'inspect', steps: 3, reward: 0, members: 4 },
  'mini-swe-agent/github_issue.traj.json': { format: 'mini-swe-agent', steps: 12 },
  'nemo-gym/blackjack_rollouts.jsonl': { format: 'nemo-gym', steps: 7, reward: -1, members: 5 },
  'nemo-gym/gymnasium_rollouts.jsonl': { format: 'nemo-gym', steps: 2, reward: 0, members: 5 },
  'swe-agent/function_calling_simple.traj': { format: 'swe-agent', steps: 7 },
  'swe-agent/warmup.traj': { format: 'swe-agent', steps: 9 },
};

describe('public trace files', () => {
  before(async function () {
    await readdir(SAMPLES).catch(() => skip(this, `no public trace files in ${SAMPLES}; RL_SAMPLES names another folder`));
  });

  for (const [name, { format, steps, reward, members = 1, problem }] of Object.entries(KNOWN))
    it(`reads ${name}, every step of every trace in it`, async () => {
      for (let member = 0; member < members; member += 1) {
        const reader = await openTrace(join(SAMPLES, name), { member });
        try {
          await reader.settled();
          const head = await reader.head();
          assert.deepEqual([head.format, head.members?.total ?? 1, head.indexed], [format, members, undefined]);
          if (member === 0) assert.deepEqual([head.steps, head.reward], [steps, reward]);
          for (const sentence of head.problems) assert.match(sentence, problem ?? /never/);
          if (problem) assert.ok(head.problems.length > 0);
          const rows = await reader.summaries(0, head.steps);
          for (const row of rows) {
            assert.notEqual(row.label, 'damaged');
            assert.ok(row.title.length > 0 && row.title.length <= 200 && !/[\n\r]/.test(row.title), row.title);
            const { index, title, error } = await reader.step(row.index);
            assert.deepEqual([index, title, error], [row.index, row.title, row.error], 'a row says what the step says');
            assert.ok((await reader.raw(row.index)).bytes > 0);
          }
          assert.equal((await reader.timeline(100)).length, Math.min(100, head.steps));
          assert.ok((await reader.start()) < head.steps);
        } finally {
          await reader.close();
        }
      }
    });
});
