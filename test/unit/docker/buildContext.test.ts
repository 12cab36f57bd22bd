import { strict as assert } from 'node:assert';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { extract } from 'tar-stream';
import { buildContext } from '../../../src/sandbox/docker/buildContext.js';

describe('docker build context', () => {
  let folder: string;
  const put = async (files: Record<string, string>): Promise<void> => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
  };
  const names = async (dockerfile = 'Dockerfile', context = folder): Promise<{ dockerfile: string; files: string[] }> => {
    const built = await buildContext({ file: join(folder, dockerfile), context });
    const parser = extract();
    built.tar.pipe(parser);
    const files: string[] = [];
    for await (const entry of parser) {
      if (entry.header.type !== 'directory') files.push(entry.header.name);
      entry.resume();
    }
    return { dockerfile: built.dockerfile, files: files.sort() };
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rlc-'));
    await put({ Dockerfile: 'FROM x', 'a.txt': 'a', 'src/b.txt': 'b', 'src/c.log': 'c', 'node_modules/d/e.js': 'e' });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the whole folder', async () => {
    await symlink('a.txt', join(folder, 'link'));
    await chmod(join(folder, 'a.txt'), 0o755);
    assert.deepEqual(await names(), { dockerfile: 'Dockerfile', files: ['Dockerfile', 'a.txt', 'link', 'node_modules/d/e.js', 'src/b.txt', 'src/c.log'] });
  });

  it('leaves out what .dockerignore says, and never the Dockerfile', async () => {
    await put({ '.dockerignore': '# comment\nnode_modules\n**/*.log\n!src/keep.log\nDockerfile\n*.txt\n', 'src/keep.log': 'k' });
    assert.deepEqual((await names()).files, ['.dockerignore', 'Dockerfile', 'src/b.txt', 'src/keep.log']);
  });

  it('prefers the ignore file of the Dockerfile', async () => {
    await put({ '.dockerignore': '*', 'Dockerfile.dockerignore': 'src\nnode_modules' });
    assert.deepEqual((await names()).files, ['.dockerignore', 'Dockerfile', 'Dockerfile.dockerignore', 'a.txt']);
  });

  it('takes a Dockerfile from outside along', async () => {
    assert.deepEqual(await names('Dockerfile', join(folder, 'src')), { dockerfile: '.rl-sandboxes.Dockerfile', files: ['.rl-sandboxes.Dockerfile', 'b.txt', 'c.log'] });
    await put({ 'src/.dockerignore': '*.log' });
    assert.deepEqual((await names('Dockerfile', join(folder, 'src'))).files, ['.dockerignore', '.rl-sandboxes.Dockerfile', 'b.txt']);
  });

  it('says what is missing', async () => {
    await assert.rejects(names('Nofile'), { name: 'BuildFailed', message: `there is no Dockerfile ${join(folder, 'Nofile')}` });
    await assert.rejects(names('Dockerfile', join(folder, 'nowhere')), { name: 'BuildFailed' });
  });
});
