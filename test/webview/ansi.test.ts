import assert from 'node:assert/strict';
import { parseAnsi } from '../../webview/ansi.js';
import { oneLine } from '../../webview/text.js';

const plain = (text: string) => parseAnsi(text).map((segment) => segment.text).join('');
const styles = (text: string) => parseAnsi(text).map(({ text: part, style }) => [part, Object.fromEntries(Object.entries(style).filter(([, value]) => value))]);

describe('text with escapes', () => {
  it('keeps colours and attributes, and ends them', () => {
    assert.deepEqual(styles('a\x1b[1;31mb\x1b[22mc\x1b[0md'), [['a', {}], ['b', { bold: true, foreground: 1 }], ['c', { foreground: 1 }], ['d', {}]]);
  });

  it('reads 256 colours and true colour, with semicolons and with colons', () => {
    assert.deepEqual(styles('\x1b[38;5;196ma'), [['a', { foreground: [255, 0, 0] }]]);
    assert.deepEqual(styles('\x1b[38;5;232ma'), [['a', { foreground: [8, 8, 8] }]]);
    assert.deepEqual(styles('\x1b[48;2;1;2;3;1ma'), [['a', { background: [1, 2, 3], bold: true }]]);
    assert.deepEqual(styles('\x1b[38:2::1:2:3ma'), [['a', { foreground: [1, 2, 3] }]]);
    assert.deepEqual(styles('\x1b[38;5;7ma'), [['a', { foreground: 7 }]]);
  });

  it('does not take an impossible colour', () => {
    assert.deepEqual(styles('\x1b[38;5;999ma\x1b[38;2;1;2mb\x1b[38mc'), [['abc', {}]]);
  });

  for (const [name, text, expected] of [
    ['a title', 'a\x1b]0;owned\x07b', 'ab'],
    ['a link', 'a\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\b', 'aclickb'],
    ['a device string', 'a\x1bPq#0;2;0;0;0\x1b\\b', 'ab'],
    ['cursor movement and erasure', 'a\x1b[2J\x1b[10;10H\x1b[Kb', 'ab'],
    ['a private mode', 'a\x1b[?25l\x1b[>4;2mb', 'ab'],
    ['eight-bit controls', 'a\u009b31mb\u009d0;title\u009cc', 'abc'],
    ['bells and backspaces', 'a\x07\x08\x00b', 'ab'],
    ['marks that reorder', 'a\u202eb\u2066c', 'abc'],
    ['half a character', 'a\ud800b', 'a\ufffdb'],
    ['an escape at the end', 'a\x1b', 'a'],
    ['an open sequence at the end', 'a\x1b[31', 'a'],
  ] as const) {
    it(`drops ${name}`, () => assert.equal(plain(text), expected));
  }

  it('lets a string without an end swallow no more than its line', () => {
    assert.equal(plain('a\x1b]0;never ends\nb'), 'a\nb');
  });

  it('shows the last state of a progress bar', () => {
    assert.equal(plain('start\n 1 %\r 50 %\r100 %\nend\r\n'), 'start\n100 %\nend\n');
    assert.equal(plain('a\r'), 'a');
  });

  it('reads a megabyte of escapes in time that grows with its length only', () => {
    assert.equal(plain('\x1b]0;'.repeat(250_000)), '');
    assert.equal(plain('\x1b[31m'.repeat(200_000)), '');
  });
});

describe('text as one line', () => {
  it('has no escapes, no line ends, no controls', () => {
    assert.equal(oneLine('a\x1b[31mb\x1b]8;;x\x07c\nd\te\u202ef\x01'), 'abc d e\ufffdf\ufffd');
  });

  it('is cut where it is too long', () => {
    assert.equal(oneLine('x'.repeat(50), 10), `${'x'.repeat(10)}\u2026`);
  });
});
