/** Tree items as functions of what the engine says. */
import assert from 'node:assert/strict';
import { Commands, InternalCommands, Items } from '../../../src/extension/ids.js';
import { failureNode, providerProblems } from '../../../src/extension/views/problemNodes.js';
import { describeRun, moreRunsNode, runChildren, runNode } from '../../../src/extension/views/runNodes.js';
import { templateNode } from '../../../src/extension/views/templateNodes.js';
import type { DoctorReport } from '../../../src/runner/api.js';
import { episode, FILE, NOW, ROOT, status, summary } from './samples.js';

const ref = { root: ROOT, file: FILE };
const problem = { file: FILE, line: 14, column: 3, endLine: 14, endColumn: 9, severity: 'error' as const, message: 'unknown key "rewrad"', path: 'rewrad' };

describe('template items', () => {
  it('says that it is built, when, and the mean of the last run', () => {
    const node = templateNode({ ref, status: status(), lastRun: summary() }, NOW);
    assert.equal(node.label, 'hello');
    assert.equal(node.description, 'built 2 min ago  ·  mean 0.497');
    assert.equal(node.item, Items.template);
    assert.equal(node.children, 'collapsed');
    assert.equal(node.command?.id, Commands.openTemplate);
  });

  it('says which parts changed since the newest snapshot', () => {
    assert.equal(templateNode({ ref, status: status({ state: 'stale', changed: ['setup', 'files'] }) }, NOW).description, 'stale: setup, files changed');
  });

  it('shows the first error of an invalid one, and goes to it', () => {
    const node = templateNode({ ref, status: status({ state: 'invalid', problems: [{ ...problem, severity: 'warning', line: 1 }, problem], snapshots: [] }), lastRun: summary() }, NOW);
    assert.equal(node.description, 'line 14: unknown key "rewrad"');
    assert.equal(node.item, Items.invalidTemplate);
    assert.deepEqual(node.command?.arguments, [{ file: FILE, line: 14, column: 3 }]);
    assert.equal(node.command?.id, InternalCommands.openProblem);
    assert.equal(node.children, undefined);
  });

  it('has a name, and says that it asks, before the engine has answered', () => {
    const node = templateNode({ ref }, NOW);
    assert.equal(node.label, 'hello');
    assert.equal(node.description, 'checking…');
    assert.match(templateNode({ ref, failure: 'it ended at once' }, NOW).description!, /it ended at once/);
  });

  it('keeps its id whatever it says', () => {
    assert.equal(templateNode({ ref }, NOW).id, templateNode({ ref, status: status({ state: 'stale' }) }, NOW + 1e9).id);
  });

  it('names the workspace folder only when it is given', () => {
    assert.match(templateNode({ ref, status: status(), folder: 'second' }, NOW).description!, /^second {2}·/);
  });
});

describe('run items', () => {
  it('shows counts and the mean with its interval', () => {
    assert.equal(describeRun(summary()), '512/512   0.497 ± 0.025');
    assert.equal(describeRun(summary({ finished: 214 }, { state: 'running' })), 'running 214/512  18/s');
    assert.equal(describeRun(summary({ mean: null, ci95: null })), '512/512   —');
    assert.equal(describeRun(summary({}, { state: 'failed', error: 'image pull\u001b[31m timed out' })), 'failed: image pull [31m timed out');
  });

  it('has one kind for each set of actions', () => {
    const kind = (changes: Parameters<typeof summary>[0], record: Parameters<typeof summary>[1]) => runNode(ROOT, summary(changes, record), NOW).item;
    assert.equal(kind({}, { state: 'building' }), Items.activeRun);
    assert.equal(kind({}, { state: 'running' }), Items.activeRun);
    assert.equal(kind({}, { state: 'done' }), Items.doneRun);
    assert.equal(kind({ unscored: 3 }, { state: 'done' }), Items.doneRunWithFailures);
    assert.equal(kind({ finished: 10 }, { state: 'cancelled' }), Items.incompleteRun);
    assert.equal(kind({ finished: 10, errors: 2 }, { state: 'interrupted' }), Items.incompleteRunWithFailures);
    assert.equal(kind({ finished: 0 }, { state: 'failed' }), Items.incompleteRun);
  });

  it('says to a screen reader what it shows', () => {
    assert.equal(runNode(ROOT, summary(), NOW).spoken, 'Run hello #14, 512/512   0.497 ± 0.025');
  });

  it('lists best, worst and failures by cause, then the way to all', () => {
    const rows = [0.9991, 0.8, 0.3, 0.0007].map((reward, index) => episode({ episode: index, seed: 300 + index, reward }));
    const nodes = runChildren(ROOT, summary(), {
      best: rows.slice(0, 2),
      worst: [...rows].reverse().slice(0, 2),
      failures: [{ code: 'ProviderUnavailable', status: 'error', count: 3, example: 'ProviderUnavailable: image pull timed out' }],
    });
    assert.deepEqual(nodes.map(({ label, description }) => [label, description]), [
      ['best 0.999', 'seed 300'],
      ['best 0.800', 'seed 301'],
      ['worst 0.0007', 'seed 303'],
      ['worst 0.300', 'seed 302'],
      ['3 × ProviderUnavailable', 'image pull timed out'],
      ['All 512…', undefined],
    ]);
    assert.deepEqual(nodes[2]!.command?.arguments, [{ root: ROOT, id: 'hello-1' }, 3]);
    assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
  });

  it('never shows an episode without a reward as one of the worst, nor one twice', () => {
    const only = episode({ episode: 7 });
    const nodes = runChildren(ROOT, summary(), { best: [only], worst: [episode({ episode: 1, reward: null, status: 'error' }), only], failures: [] });
    assert.deepEqual(nodes.map(({ label }) => label), ['best 0.500', 'All 512…']);
  });

  it('has no children before the first episode', () => {
    assert.equal(runNode(ROOT, summary({ finished: 0 }, { state: 'running' }), NOW).children, undefined);
    assert.equal(runNode(ROOT, summary({ finished: 1 }, { state: 'running' }), NOW).children, 'collapsed');
  });

  it('says how many are not shown', () => {
    assert.equal(moreRunsNode(70).description, '70 older runs');
  });
});

describe('problem items', () => {
  const report = (changes: Partial<DoctorReport>): DoctorReport => ({ version: '0', node: 'v20', platform: 'linux', providers: [], ...changes });
  const broken = [
    { id: 'bubblewrap', title: 'bubblewrap', ok: false, summary: 'bwrap is not on the PATH', hint: 'apt-get install bubblewrap', code: 'not-installed' as const },
    { id: 'docker', title: 'Docker', ok: false, summary: 'connect ENOENT', hint: 'start it', code: 'not-running' as const },
  ];

  it('is silent while some provider answers', () => {
    assert.deepEqual(providerProblems(report({ chosen: { id: 'docker', why: 'x' }, providers: broken })), []);
  });

  it('names each reason and does what helps', () => {
    const nodes = providerProblems(report({ providers: broken }));
    assert.deepEqual(nodes.map(({ label }) => label), ['No sandbox provider answers', 'bubblewrap is not installed', 'Docker is not running']);
    assert.deepEqual(nodes.map(({ command }) => command?.id), [Commands.doctor, InternalCommands.fixProvider, InternalCommands.fixProvider]);
    assert.equal(nodes[1]!.description, 'apt-get install bubblewrap');
  });

  it('offers a new start when the engine does not answer, with an id for each place', () => {
    const top = failureNode('it ended');
    assert.equal(top.command?.id, Commands.restartEngine);
    assert.notEqual(top.id, failureNode('it ended', runNode(ROOT, summary(), NOW)).id);
  });
});
