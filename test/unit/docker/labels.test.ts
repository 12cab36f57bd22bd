import { strict as assert } from 'node:assert';
import { containerLabels, containerName, sandboxInfo, snapshotLabels } from '../../../src/sandbox/docker/labels.js';

const LABELS = { owner: '1:2:boot', run: 'r', episode: 0, template: 't', digest: 'sha256:d', snapshot: 'd-1', expires: 99 };
const container = (labels: Record<string, string>, name = 'rl-abc', state = 'running') => ({ Names: [`/${name}`], Labels: labels, State: state, Created: 5 });

describe('docker labels', () => {
  it('say who a container belongs to, and back', () => {
    assert.equal(containerName('abc'), 'rl-abc');
    assert.deepEqual(sandboxInfo(container(containerLabels('abc', LABELS, 1234))), { id: 'abc', provider: 'docker', labels: LABELS, createdAt: 1234, state: 'running' });
    const few = { owner: 'o', expires: 1 };
    assert.deepEqual(sandboxInfo(container(containerLabels('abc', few, 1)))!.labels, { ...few, run: undefined, episode: undefined, template: undefined, digest: undefined, snapshot: undefined });
  });

  it('name every state that a creation can die in', () => {
    const states = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'].map((state) => sandboxInfo(container(containerLabels('abc', LABELS), 'rl-abc', state))!.state);
    assert.deepEqual(states, ['starting', 'running', 'running', 'running', 'exited', 'exited', 'exited']);
  });

  it('do not make a sandbox of what a person starts from a snapshot', () => {
    assert.equal(sandboxInfo(container({ ...containerLabels('abc', LABELS), ...snapshotLabels(LABELS, 3) }, 'cocky_hopper')), undefined);
    assert.equal(sandboxInfo(container(containerLabels('abc', LABELS), 'cocky_hopper')), undefined);
    assert.equal(sandboxInfo(container({})), undefined);
  });
});
