/** Live sandboxes and snapshots as tree items. */
import assert from 'node:assert/strict';
import { Items } from '../../../src/extension/ids.js';
import { fileNodes, sandboxChildren, sandboxNode } from '../../../src/extension/views/sandboxNodes.js';
import { describeUses, snapshotLabel, snapshotNode } from '../../../src/extension/views/snapshotNodes.js';
import type { FileEntry } from '../../../src/sandbox/provider.js';
import { NOW, ROOT, sandbox, snapshotReport } from './samples.js';

const node = (changes: Parameters<typeof sandbox>[0] = {}) => sandboxNode({ root: ROOT, sandbox: sandbox(changes) });
const children = (changes: Parameters<typeof sandbox>[0] = {}, terminals: { number: number; name: string }[] = []) => sandboxChildren({ root: ROOT, sandbox: sandbox(changes) }, terminals);

describe('sandbox items', () => {
  it('shows provider, age, processor and memory', () => {
    const { label, description, sandbox: ref, item } = node();
    assert.equal(label, 'hello-7c1e');
    assert.equal(description, 'bubblewrap  4 min  3 %  41 MB');
    assert.deepEqual(ref, { root: ROOT, id: 'bw-0007c1e', provider: 'bubblewrap' });
    assert.equal(item, Items.sandbox);
  });

  it('says when it expires, if that is soon, in steps of a minute', () => {
    assert.match(node({ remainingMs: 12 * 60_000 }).description!, /expires in 12 min$/);
    assert.equal(node({ remainingMs: 12 * 60_000 }).description, node({ remainingMs: 12 * 60_000 - 59_000 }).description);
    assert.match(node({ remainingMs: 40_000 }).description!, /expires within a minute$/);
    assert.doesNotMatch(node({ remainingMs: null }).description!, /expires/);
    assert.match(node({ remainingMs: null }).tooltip!(), /stays until somebody terminates it/);
  });

  it('says which hosts its network leads to, and what was refused', () => {
    const policy = { allow: ['site.org', '*.example.com'] };
    assert.match(node({ network: { policy } }).tooltip!(), /^network: only site\.org, \*\.example\.com$/m);
    assert.match(node({ network: { policy, refused: 3, lastRefused: 'evil.com:443' } }).tooltip!(), /; 3 requests refused, the last to evil\.com:443$/m);
    assert.match(node({ network: { policy: 'none' } }).tooltip!(), /^without a network$/m);
  });

  it('shows no processor until there are two measurements', () => {
    assert.equal(node({ usage: { cpu: null, cpuMs: 1, memory: 41_000_000, pids: 1, at: 1 } }).description, 'bubblewrap  4 min  41 MB');
    assert.equal(node({ usage: { cpu: 2, cpuMs: 1, memory: 0, pids: 1, at: 1 } }).description, 'bubblewrap  4 min  200 %  0 B');
  });

  it('offers to suspend where that can be, and to resume what is', () => {
    assert.equal(node({ suspendable: true }).item, Items.suspendableSandbox);
    const suspended = node({ suspendable: true, state: 'suspended', usage: undefined });
    assert.deepEqual([suspended.item, suspended.description], [Items.suspendedSandbox, 'bubblewrap  suspended']);
    assert.equal(node({ suspendable: true, attached: false }).item, Items.foreignSandbox);
  });

  it('says where it comes from, and offers only its end where this engine does not hold it', () => {
    assert.match(node({ origin: 'forked' }).description!, /fork$/);
    assert.match(node({ origin: 'kept', labels: { owner: 'o', episode: 5, expires: 0 } }).description!, /kept from episode 5$/);
    const foreign = node({ origin: 'other', attached: false, usage: undefined });
    assert.equal(foreign.item, Items.foreignSandbox);
    assert.equal(foreign.children, undefined);
    assert.match(foreign.description!, /another process$/);
    assert.match(node({ origin: 'other', attached: false, orphan: true }).description!, /orphan$/);
    assert.deepEqual(children({ attached: false }), []);
  });

  it('has its files, terminals, services and ports beneath', () => {
    const nodes = children(
      {
        services: [{ name: 'web', state: 'ready', readyMs: 400 }, { name: 'db', state: 'failed', problem: 'it ended\u001b[2J with exit code 1' }],
        ports: [{ port: 8000, address: '0.0.0.0' }, { port: 22, address: '127.0.0.1' }],
        forwards: [{ port: 8000, localPort: 8000, connections: 0 }],
      },
      [{ number: 1, name: 'hello-7c1e' }],
    );
    assert.deepEqual(nodes.map(({ label, description, item }) => [label, description, item]), [
      ['hello-7c1e', undefined, Items.terminal],
      ['web', 'ready after 400 ms', Items.service],
      ['db', 'failed: it ended [2J with exit code 1', Items.service],
      ['Port 22', '127.0.0.1', Items.port],
      ['Port 8000', '0.0.0.0  → localhost:8000', Items.forwardedPort],
      ['Files', undefined, Items.files],
    ]);
    assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
    for (const { spoken } of nodes) assert.ok(spoken);
  });

  it('lists folders first, shows hostile names as text, and keeps the name for what is done to it', () => {
    const entry = (name: string, type: FileEntry['type'], size = 0): FileEntry => ({ name, type, link: false, size, modified: 0, mode: 0o644 });
    const parent = { root: ROOT, id: 'x', provider: 'docker', path: '/', folder: true, size: 0 };
    const nodes = fileNodes(parent, [entry('b', 'file', 5), entry('a\n\u202eb', 'file'), entry('z', 'directory')]);
    assert.deepEqual(nodes.map(({ label }) => label), ['z', 'a b', 'b']);
    assert.deepEqual(nodes[1]!.file, { ...parent, path: '/a\n\u202eb', folder: false });
    const many = fileNodes({ ...parent, path: '/d' }, Array.from({ length: 600 }, (_, index) => entry(String(index), 'file')));
    assert.equal(many.length, 501);
    assert.equal(many.at(-1)!.label, '100 more');
    assert.equal(many[0]!.file!.path, '/d/0');
  });
});

describe('snapshot items', () => {
  const one = (changes: Parameters<typeof snapshotReport>[0] = {}, current?: string) => snapshotNode(ROOT, snapshotReport(changes), { now: NOW, current });

  it('marks the one that runs restore, those that are stale, and those that are pinned', () => {
    assert.equal(one({}, 'hello-8f31c2').description, 'current  ·  bubblewrap  ·  12 MB  ·  2 min ago');
    assert.equal(one({ stale: ['setup', 'files'] }).description, 'stale: setup, files changed  ·  bubblewrap  ·  12 MB  ·  2 min ago');
    assert.equal(one({ pinned: true, kind: 'memory', name: 'warm-numpy' }).description, 'memory  ·  pinned  ·  bubblewrap  ·  12 MB  ·  2 min ago');
    assert.equal(one({ pinned: true }).item, Items.pinnedSnapshot);
    assert.equal(one().item, Items.snapshot);
    assert.match(one({ exists: false }).description!, /^gone/);
  });

  it('is called by its name, else by what was built', () => {
    assert.equal(one().label, '8f31c2a');
    assert.equal(one({ name: 'warm' }).label, 'warm');
    assert.equal(snapshotLabel(snapshotReport({ origin: 'sandbox', id: 'hello-1234567' })), '1234567');
  });

  it('says in its tooltip what it is made of, who used it, and what a person wrote', () => {
    const text = one({ ownBytes: 2_000_000, parent: 'p1', children: ['a', 'b'], usedBy: [{ id: 'r', number: 3 }], note: 'before\nthe fix', live: 2, origin: 'sandbox' }).tooltip!();
    for (const part of ['12 MB, of which 2.0 MB are not shared', 'made from p1', '2 snapshots were made from it', 'used by run #3', 'before the fix', '2 sandboxes live on it']) assert.ok(text.includes(part), `${part} in ${text}`);
    assert.equal(describeUses(Array.from({ length: 7 }, (_, number) => ({ id: '', number }))), 'run #0, run #1, run #2, run #3, run #4 and 2 more');
  });
});
