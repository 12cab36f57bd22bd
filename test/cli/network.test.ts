import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TraceEvent } from '../../src/trace/events.js';
import { Workspace } from './support.js';

/** Tries two hosts again and again, and says how often it was told so. */
const ASK = `import urllib.request
refused = 0
for attempt in range(RANGE):
    try:
        urllib.request.urlopen(f"http://example.{('com', 'net')[attempt % 2]}/", timeout=20)
    except urllib.error.HTTPError as error:
        refused += error.code == 403 and b"does not lead to example" in error.read()
print(refused)`;
const python = (times: number): string => JSON.stringify(ASK.replace('RANGE', String(times)));

describe('a network that leads to certain hosts only', function () {
  this.timeout(120_000);
  let workspace: Workspace;
  before(async () => void (workspace = await Workspace.make()));
  after(() => workspace.remove());

  it('refuses all others: a program is told, the output of a build and the trace of an episode say so, and no trace grows without end', async () => {
    const file = await workspace.template('asks', `network: {setup: {allow: ["*.example.org"]}, episode: {allow: [example.org]}}\nsetup: [{python: ${python(2)}}]\nepisode: {python: ${python(503)}, timeout: 60s}\n`);
    const { code, stderr } = await workspace.run('build', file);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /network: example\.com:80 was refused: it is not in the list of allowed hosts/);
    const { directory, stats } = await workspace.json<{ directory: string; stats: { mean: number } }>('run', file);
    assert.equal(stats.mean, 503);
    const trace = join(directory, 'episodes', '0', 'trace.jsonl');
    const events = (await readFile(trace, 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line) as TraceEvent);
    const refused = events.filter((event) => event.type === 'network');
    assert.deepEqual(refused.slice(0, 2).map(({ host, port, refused }) => [host, port, refused]), [['example.com', 80, 'is not in the list of allowed hosts'], ['example.net', 80, 'is not in the list of allowed hosts']]);
    assert.equal(refused.length, 500);
    assert.deepEqual(events.flatMap((event) => (event.type === 'note' ? [event.message] : [])), ['3 more requests to the network were refused']);
    const { stdout } = await workspace.run('trace', trace, '--steps', '0..600');
    assert.match(stdout, /^\d+ +system +error .* refused example\.com:80: it is not in the list of allowed hosts \[refused\]$/m);
    assert.doesNotMatch(stdout, /^problem/m);
    assert.match(stdout, /^\d+ +agent +action .*import urllib\.request/m, 'the step is told as one, though others lie within it');
  });
});
