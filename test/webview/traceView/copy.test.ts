/** A copied model call, in the shell and the interpreter that it is pasted into. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { asCurl, asPython, stepMarkdown } from '../../../webview/traceView/copy.js';
import { skip } from '../../support/skip.js';

const HOSTILE = [
  "it's", '"quoted"', '`id`', '$(touch /tmp/pwned)', '$HOME ${HOME}', '!!', '!rm', 'back\\slash \\', "'''", '"""', 'END_OF_REQUEST', '\nEND_OF_REQUEST\n', 'EOF', '\r\n', '\x1b]0;title\x07', '\x9b31m', '\x7f',
  '\u202Eevil', '\u2028\u2029', 'emoji \u{1f600}', 'lone \ud800 half', '\u0000', '%s %d', '{x}', '\\u0041', "r'''", '#', '; exit 1', '| cat', '&& false', 'é 日本',
];
const request = { model: 'm', messages: [...HOSTILE.map((content) => ({ role: 'user', content })), { role: "it's", content: HOSTILE.join(' ') }], temperature: 0.2, stop: null };
// A half character becomes its escape in JSON, and JSON.parse reads it back.
const call = { url: 'http://localhost:8000/v1/chat/completions', request };

describe('a copied model call', () => {
  it('is one command to a shell, with the very body and no other word', () => {
    const { stdout, status } = spawnSync('bash', ['-c', `curl() { printf '%s\\n' "$#" "$@" >&2; cat; }\n${asCurl(call)}`], { encoding: 'utf8', env: { ...process.env, OPENAI_API_KEY: 'sk-test' } });
    assert.equal(status, 0);
    assert.deepEqual(JSON.parse(stdout), request);
  });

  it('reads the key from the environment, and holds none', () => {
    const { stderr } = spawnSync('bash', ['-c', `curl() { printf '%s\\n' "$@" >&2; cat > /dev/null; }\n${asCurl(call)}`], { encoding: 'utf8', env: { ...process.env, OPENAI_API_KEY: 'sk-test' } });
    assert.deepEqual(stderr.trim().split('\n'), [call.url, '-H', 'Content-Type: application/json', '-H', 'Authorization: Bearer sk-test', '--data-binary', '@-']);
    assert.ok(!asCurl(call).includes('sk-test'));
  });

  it('is the same for an interactive shell, which looks for ! in what it reads', () => {
    const { stdout } = spawnSync('bash', ['--norc', '-i'], { encoding: 'utf8', input: `curl() { cat; }\n${asCurl(call)}`, env: { PATH: process.env['PATH'], HISTFILE: '/dev/null', PS1: '', PS2: '', TERM: 'dumb' } });
    assert.deepEqual(JSON.parse(stdout.slice(stdout.indexOf('{\n'), stdout.lastIndexOf('}') + 1)), request);
  });

  it('is a program to Python, with the very body', function () {
    if (spawnSync('python3', ['-c', '']).status !== 0) return skip(this, 'there is no python3');
    const program = `import io, json, urllib.request
class Response(io.BytesIO):
    pass
def urlopen(request, timeout):
    import sys
    sys.stderr.write(request.full_url + ' ' + request.headers['Authorization'])
    return Response(request.data)
urllib.request.urlopen = urlopen
exec(compile(__import__('sys').stdin.buffer.read().decode(), 'copied', 'exec'))`;
    const { stdout, stderr, status } = spawnSync('python3', ['-c', program], { input: asPython(call), encoding: 'utf8', env: { ...process.env, OPENAI_API_KEY: 'sk-test' } });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, `${call.url} Bearer sk-test`);
    assert.deepEqual(JSON.parse(stdout), request);
  });

  it('has no control, no mark that reorders text and no quote of its own in it', () => {
    for (const text of [asCurl(call), asPython(call)]) {
      const inside = text.slice(text.indexOf('{\n'), text.indexOf('\n}') + 2);
      assert.doesNotMatch(inside, /(?!\n)[\p{C}\u2028\u2029'!]/u);
    }
  });

  it('goes to no address but http, whatever the trace says', () => {
    for (const url of ['file:///etc/passwd', "http://x/'; touch /tmp/pwned; '", '-o /etc/passwd', 'http://a:b@x/$(id)`id`', undefined, 'javascript:alert(1)', 'http://x/\n\n; id']) {
      const [first] = asCurl({ url, request }).split('\n');
      assert.match(first!, /^curl 'https?:\/\/[^'\s`$\\]+' \\$/, String(url));
    }
  });
});

describe('a copied step', () => {
  it('fences what holds fences', () => {
    const text = stepMarkdown({ index: 3, label: '3', source: 'agent', kind: 'tool', title: 'bash', calls: [{ name: 'bash', arguments: { command: 'cat a.md' }, result: [{ type: 'terminal', text: '\x1b[31m```js\nx\n```\x1b[0m\n' }] }] });
    assert.match(text, /````\n```js\nx\n```\n````/);
    assert.ok(!text.includes('\x1b'));
  });
});
