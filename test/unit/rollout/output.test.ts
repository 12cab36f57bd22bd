import { strict as assert } from 'node:assert';
import { Readable } from 'node:stream';
import { OutputCapture, consume } from '../../../src/rollout/output.js';
import { random } from './random.js';

function captured(text: string | Uint8Array, limits?: { head: number; tail: number }): OutputCapture {
  const capture = new OutputCapture(limits);
  capture.write(typeof text === 'string' ? Buffer.from(text) : text);
  return capture;
}

describe('output capture', () => {
  it('keeps what fits byte for byte', () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, index) => 0xf0 + index);
    const capture = captured(bytes, { head: 10, tail: 10 });
    assert.deepEqual([...capture.bytes()], [...bytes]);
    assert.equal(capture.total, 20);
    assert.equal(capture.dropped, 0);
  });

  it('keeps both ends and says in a line of its own how much fell between', () => {
    const capture = captured(`${'a'.repeat(10)}${'b'.repeat(100)}${'c'.repeat(10)}`, { head: 10, tail: 10 });
    assert.equal(capture.text(), 'aaaaaaaaaa\n[... 100 bytes were not kept ...]\ncccccccccc');
    assert.equal(capture.total, 120);
    assert.equal(capture.dropped, 100);
  });

  it('adds no blank line where the head ends with one', () => {
    assert.equal(captured('abc\ndefgh', { head: 4, tail: 2 }).text(), 'abc\n[... 3 bytes were not kept ...]\ngh');
  });

  it('cuts between characters', () => {
    for (const character of ['é', '€', '😀']) {
      const text = character.repeat(50);
      const size = Buffer.byteLength(character);
      for (let limit = 0; limit < 20; limit++) {
        const capture = captured(text, { head: limit, tail: limit });
        assert(!capture.text().includes('\ufffd'), `${character} at ${limit}`);
        assert.equal(capture.dropped % size, 0);
        assert(capture.dropped >= size * 50 - 2 * limit && capture.dropped <= size * 50 - 2 * limit + 6);
      }
    }
  });

  it('decodes what is not UTF-8 without lone surrogates', () => {
    // Two surrogates as UTF-8 would have them, an overlong slash, a byte that never occurs.
    const text = captured(Buffer.from([0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80, 0xc0, 0xaf, 0xff, 0x41])).text();
    assert.match(text, /^\ufffd+A$/);
    assert(!/\p{Surrogate}/u.test(text));
    assert.equal(JSON.parse(JSON.stringify(text)), text);
  });

  it('is the same however the stream is cut into chunks', () => {
    const next = random(7);
    const alphabet = ['a', '\n', '\r\n', ' ', 'é', '€', '😀', '\u0000', '0.5'];
    for (let round = 0; round < 300; round++) {
      const parts = Array.from({ length: next(60) }, () => Buffer.from(alphabet[next(alphabet.length)]!));
      if (next(3) === 0) parts.push(Buffer.from([0x80 + next(128)]));
      const whole = Buffer.concat(parts);
      const limits = { head: next(30), tail: next(30) };
      const once = captured(whole, limits);
      const many = new OutputCapture(limits);
      for (let at = 0; at < whole.length; ) {
        const size = next(9);
        many.write(whole.subarray(at, at + size));
        at += size;
      }
      const what = `round ${round}`;
      assert.deepEqual(many.bytes(), once.bytes(), what);
      assert.deepEqual(many.lastLines(3), once.lastLines(3), what);
      assert.equal(many.total, whole.length, what);
      assert.equal(many.dropped, once.dropped, what);
      if (whole.length <= limits.head + limits.tail) assert.deepEqual(Buffer.from(once.bytes()), whole, what);
      else assert(Buffer.from(once.bytes()).length <= limits.head + limits.tail + 50, what);
    }
  });

  describe('last line', () => {
    const cases: readonly [string, string, string | undefined][] = [
      ['nothing', '', undefined],
      ['only blanks', ' \n\t\n\n', undefined],
      ['no line feed at the end', 'a\nb', 'b'],
      ['blank lines after it', 'a\nb\n\n \t\n', 'b'],
      ['Windows line ends', 'a\r\nb\r\n', 'b'],
      ['a progress bar', '10%\r50%\r0.5\n', '0.5'],
      ['one line', 'b', 'b'],
      ['a first line that is blank', '\nb\n', 'b'],
    ];
    for (const [name, text, expected] of cases) {
      it(name, () => assert.equal(captured(text).lastLine()?.text, expected));
    }

    it('is known to be cut when it is longer than what is kept', () => {
      const limits = { head: 100, tail: 100 };
      assert.deepEqual(captured(`1\n${'9'.repeat(500)}`, limits).lastLine(), { text: '9'.repeat(100), complete: false });
      assert.deepEqual(captured(`${'x'.repeat(500)}\n0.5\n`, limits).lastLine(), { text: '0.5', complete: true });
    });

    it('is not taken for empty when only blank lines are kept', () => {
      assert.equal(captured(`0.5\n${'\n'.repeat(500)}`, { head: 2, tail: 100 }).lastLine()?.complete, false);
    });

    it('is found in what both ends hold together', () => {
      assert.equal(captured('12345678', { head: 4, tail: 4 }).lastLine()?.text, '12345678');
    });

    it('is found in a quarter of a million blank lines at once', () => {
      assert.equal(captured(`0.5${'\n'.repeat(256 * 1024)}`).lastLine()?.text, '0.5');
    });
  });

  it('consumes a stream into several captures', async () => {
    const captures = [new OutputCapture(), new OutputCapture()];
    await consume(Readable.from([Buffer.from('a'), Buffer.from('b')]), ...captures);
    assert.deepEqual(captures.map((capture) => capture.text()), ['ab', 'ab']);
  });

  it("rejects with the stream's error and keeps what came before", async () => {
    const capture = new OutputCapture();
    const source = Readable.from(
      (function* () {
        yield Buffer.from('a');
        throw new Error('the connection broke');
      })(),
    );
    await assert.rejects(consume(source, capture), /the connection broke/);
    assert.equal(capture.text(), 'a');
  });
});
