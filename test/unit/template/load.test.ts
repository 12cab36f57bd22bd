import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { findDuplicateNames, loadTemplate, readTemplate } from '../../../src/template/load.js';
import { TemplateError } from '../../../src/template/template.js';
import { skip } from '../../support/skip.js';

describe('loadTemplate', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'rlenv-load-')));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = async (text: string | Uint8Array, name = 'a.rlenv.yaml') => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  };
  const problems = async (file: string): Promise<string[]> => {
    const error = await loadTemplate(file).then(
      () => assert.fail('it loaded'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof TemplateError, String(error));
    return error.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
  };

  it('loads every good template and every example', async () => {
    const files = ['test/fixtures/templates/good/full.rlenv.yaml', 'test/fixtures/templates/good/aliases.rlenv.yaml', 'test/fixtures/templates/good/short.rlenv.json'];
    const examples = ['hello', 'code-repair', 'cartpole', 'sales-report', 'agent', 'gymnasium'].map((name) => `examples/${name}.rlenv.yaml`);
    for (const file of [...files, ...examples]) assert.equal((await loadTemplate(file)).file, path.resolve(file));
  });

  it('says what is wrong with the file itself', async () => {
    assert.deepEqual(await problems(path.join(folder, 'no.rlenv.yaml')), ['1:1 the template file does not exist']);
    assert.deepEqual(await problems(folder), ['1:1 expected a template file, found a folder']);
    assert.deepEqual(await problems(await write(new Uint8Array(2 ** 20 + 1))), ['1:1 the file is 1.0 MiB: expected a template of at most 1 MiB (data can be copied in with `files`)']);
    assert.deepEqual(await problems(await write(Buffer.from('name: a', 'utf16le').fill(0xff, 0, 1).fill(0xfe, 1, 2))), ['1:1 expected UTF-8 text, found UTF-16: save the file as UTF-8']);
    assert.deepEqual(await problems(await write(Uint8Array.of(0x6e, 0xff, 0xfe))), ['1:1 expected UTF-8 text, found bytes that are not UTF-8']);
  });

  it('does not wait for a pipe', async function () {
    if (process.platform === 'win32') return skip(this, 'Windows has no named pipes in folders');
    execFileSync('mkfifo', [path.join(folder, 'pipe.rlenv.yaml')]);
    assert.deepEqual(await problems(path.join(folder, 'pipe.rlenv.yaml')), ['1:1 expected a template file, found a device, pipe or socket']);
  });

  it('says that a file may not be read', async function () {
    if (process.getuid?.() === 0 || process.platform === 'win32') return skip(this, 'root and Windows read every file');
    const file = await write('name: a');
    await chmod(file, 0);
    assert.deepEqual(await problems(file), ['1:1 the template file may not be read by this user']);
  });

  it('reads a file that begins with a byte order mark', async () => {
    assert.equal((await loadTemplate(await write('\ufeffname: a\nepisode: {run: x}'))).name, 'a');
  });

  it('finds what is not there, at its place, together with everything else', async () => {
    const file = await write(
      [
        'name: a',
        'image: ./rootfs',
        'files:',
        '  - {from: data, to: /x}',
        'episode: {run: x, timeout: 5}',
        'reward:',
        '  - {type: diff, path: /x, expected: expected.txt}',
        '  - {type: sandbox, dockerfile: scorer/Dockerfile, files: [/x], run: y}',
      ].join('\n'),
    );
    assert.deepEqual(await problems(file), [
      '2:8 "./rootfs" does not exist',
      '4:12 "data" does not exist',
      '5:28 expected a duration such as `90s` or `5m`, found `5`',
      '7:38 "expected.txt" does not exist',
      '8:33 "scorer/Dockerfile" does not exist',
    ]);
  });

  it('tells files from folders', async () => {
    await mkdir(path.join(folder, 'folder'));
    await write('', 'file');
    const file = await write('name: a\nimage: ./file\nepisode: {run: x}\nreward: {type: diff, path: /x, expected: folder}');
    assert.deepEqual(await problems(file), ['2:8 expected a folder, but "./file" is a file', '4:42 expected a file, but "folder" is a folder']);
  });

  it('follows links inside the template folder and refuses those that leave it', async () => {
    await write('data', 'real.txt');
    await symlink('real.txt', path.join(folder, 'link.txt'));
    await symlink('/etc', path.join(folder, 'out'));
    await symlink('loop', path.join(folder, 'loop'));
    const good = await loadTemplate(await write('name: a\nfiles: [{from: link.txt, to: /x}]\nepisode: {run: x}'));
    assert.deepEqual(good.files, [{ from: path.join(folder, 'real.txt'), to: '/x' }]);
    const bad = await write('name: a\nfiles:\n  - {from: out, to: /x}\n  - {from: out/hostname, to: /x}\n  - {from: loop, to: /x}\nepisode: {run: x}');
    assert.deepEqual(await problems(bad), [
      '3:12 "out" is a link that leads out of the template\'s folder',
      '4:12 "out/hostname" is a link that leads out of the template\'s folder',
      '5:12 "loop" is a link that leads to itself',
    ]);
  });

  it('gives the name and the problems of a template that cannot be loaded', async () => {
    const { name, problems: found, template } = await readTemplate(await write('name: a\nepisode: {}'));
    assert.equal(name, 'a');
    assert.equal(found.length, 1);
    assert.equal(template, undefined);
  });
});

describe('findDuplicateNames', () => {
  it('points at each template that shares its name, and names another one', () => {
    const position = { line: 2, column: 7, endLine: 2, endColumn: 8 };
    const problems = findDuplicateNames([
      { file: '/a.rlenv.yaml', name: 'x' },
      { file: '/b.rlenv.yaml', name: 'y' },
      { file: '/c.rlenv.yaml', name: 'x', position },
    ]);
    assert.deepEqual(
      problems.map(({ file, line, message }) => `${file}:${line} ${message}`),
      [
        '/a.rlenv.yaml:1 the name "x" is also that of "/c.rlenv.yaml": expected one that no other template has',
        '/c.rlenv.yaml:2 the name "x" is also that of "/a.rlenv.yaml": expected one that no other template has',
      ],
    );
  });
});
