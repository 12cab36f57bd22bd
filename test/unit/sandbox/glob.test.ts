import { strict as assert } from 'node:assert';
import { byteString, parseGlob } from '../../../src/sandbox/glob.js';

const matches = (pattern: string, path: string): boolean => parseGlob(pattern).matches(byteString(path));

describe('glob', () => {
  const cases: [string, string[], string[]][] = [
    ['/a/*.txt', ['/a/x.txt', '/a/.txt', '/a/ü n.txt', '/a/new\nline.txt'], ['/a/x.log', '/a/b/x.txt', '/x.txt', '/a/xtxt']],
    ['/a/?', ['/a/x', '/a/ü', '/a/🎲'], ['/a/', '/a/xy', '/a/b/c']],
    ['/a/[b-d]x', ['/a/bx', '/a/dx'], ['/a/ax', '/a/-x']],
    ['/a/[!b]', ['/a/c', '/a/ü'], ['/a/b', '/a/cc']],
    ['/a/[üx]', ['/a/ü', '/a/x'], ['/a/u']],
    ['/a/[]]', ['/a/]'], ['/a/x']],
    ['/a/**/z', ['/a/z', '/a/b/z', '/a/b/c/z'], ['/a/bz', '/z']],
    ['/a/**', ['/a', '/a/b', '/a/b/c'], ['/ab']],
    ['/**', ['/', '/a', '/a/b'], []],
    ['/a.b+(c)', ['/a.b+(c)'], ['/axb+(c)']],
    ['/a/\\*', ['/a/*'], ['/a/x']],
    ['/a/[', ['/a/['], ['/a/x']],
    ['/a//./b/../c', ['/a/c'], ['/a/b/c']],
    ['/', ['/'], ['/a']],
  ];
  for (const [pattern, yes, no] of cases) {
    it(pattern, () => {
      for (const path of yes) assert.ok(matches(pattern, path), path);
      for (const path of no) assert.ok(!matches(pattern, path), path);
    });
  }

  it('knows where to look and how deep', () => {
    assert.deepEqual([parseGlob('/a/b/*/c*').root, parseGlob('/a/b/*/c*').depth], ['/a/b', 2]);
    assert.deepEqual([parseGlob('/a/b').root, parseGlob('/a/b').depth], ['/a/b', 0]);
    assert.deepEqual([parseGlob('/a/**/b').root, parseGlob('/a/**/b').depth], ['/a', undefined]);
    assert.equal(parseGlob('/../..').root, '/');
  });
});
