import assert from 'node:assert/strict';
import { capabilityProblems, providerProblems, type CapableProvider } from '../../../src/template/capabilities.js';
import { parseTemplate } from '../../../src/template/parse.js';

const ALL: CapableProvider = { id: 'all', capabilities: { gpu: true, network: ['none', 'full'], isolation: ['default', 'gvisor'], user: true, readOnly: true, image: true, rootFolder: true, dockerfile: true, aptPackages: true } };
const NOTHING: CapableProvider = { id: 'nothing', capabilities: { gpu: false, network: ['none'], isolation: ['default'], user: false, readOnly: false, image: false, rootFolder: false, dockerfile: false, aptPackages: false, maxSessionSeconds: 60 } };
const FOLDERS: CapableProvider = { id: 'folders', capabilities: { ...NOTHING.capabilities, rootFolder: true } };

const TEXT = `name: a
image: debian:12
packages: {apt: [git], python: [six]}
resources:
  gpu: 1
network: full
isolation: gvisor
user: agent
read_only: true
episode: {run: x, timeout: 5m}
reward:
  - type: stdout
  - type: sandbox
    dockerfile: scorer/Dockerfile
    resources: {gpu: A100}
    files: [/out]
    run: score
`;
const problems = (text: string, provider: CapableProvider) => capabilityProblems(parseTemplate(text, '/envs/a.rlenv.yaml'), provider).map(({ line, column, message }) => `${line}:${column} ${message}`);

describe('capabilityProblems', () => {
  it('has nothing to say where everything can be done', () => assert.deepEqual(problems(TEXT, ALL), []));

  it('says for each thing what the provider can do instead, at its place', () => {
    assert.deepEqual(problems(TEXT, NOTHING), [
      '2:8 the provider "nothing" cannot start from a container image: it starts from its own default root',
      '3:17 the provider "nothing" cannot install Debian packages: it takes what its base holds, and Python packages',
      '5:8 the provider "nothing" has no GPUs: its sandboxes run on the CPU only',
      '6:10 the provider "nothing" has no network policy `full` for setup: it has `none`',
      '6:10 the provider "nothing" has no network policy `full` for episodes: it has `none`',
      '7:12 the provider "nothing" has no isolation `gvisor`: it has `default`',
      '8:7 the provider "nothing" cannot run an episode as another user',
      '9:12 the provider "nothing" has no read-only root',
      '10:28 a sandbox of the provider "nothing" lives 60 s at most, and an episode here may take 300 s',
      '14:17 the provider "nothing" cannot build a Dockerfile: it starts from its own default root',
      '15:22 the provider "nothing" has no GPUs: its sandboxes run on the CPU only',
    ]);
  });

  it('says what else there is than a list of allowed hosts', () => {
    const text = 'name: a\nimage: ./x\nnetwork:\n  setup: none\n  episode: {allow: [site.org]}\nepisode: {run: x, timeout: 5s}\n';
    assert.deepEqual(problems(text, FOLDERS), ['5:12 the provider "folders" has no network policy `allow` for episodes: it has `none`']);
    assert.deepEqual(problems(text, { ...FOLDERS, capabilities: { ...FOLDERS.capabilities, network: ['none', 'allow'] } }), []);
  });

  it('tells root folders from container images', () => {
    const text = (image: string) => `name: a\nimage: ${image}\nnetwork: none\nepisode: {run: x, timeout: 5s}\n`;
    assert.deepEqual(problems(text('./rootfs'), FOLDERS), []);
    assert.deepEqual(problems(text('debian:12'), FOLDERS), ['2:8 the provider "folders" cannot start from a container image: it starts from a root folder (`./path`) or its own default root']);
    assert.deepEqual(problems(text('/srv/rootfs'), NOTHING), ['2:8 the provider "nothing" cannot start from a root folder: it starts from its own default root']);
  });

  it('finds a reward that stands alone, in a list or not', () => {
    const text = (reward: string) => `name: a\nnetwork: none\nepisode: {run: x, timeout: 5s}\nreward: ${reward}\n`;
    assert.deepEqual(problems(text('{type: sandbox, image: x, files: [/x], run: y}'), NOTHING), ['4:32 the provider "nothing" cannot start from a container image: it starts from its own default root']);
    assert.deepEqual(problems(text('[{type: sandbox, image: x, files: [/x], run: y}]'), NOTHING), ['4:33 the provider "nothing" cannot start from a container image: it starts from its own default root']);
  });

  it('leaves a template with errors of its own to them', () => assert.deepEqual(problems('image: x', NOTHING), []));
});

describe('providerProblems', () => {
  const CLOUD: CapableProvider = { ...ALL, id: 'cloud', remote: true };
  const found = (text: string, providers: readonly CapableProvider[], otherwise?: string) => providerProblems(parseTemplate(text, '/envs/a.rlenv.yaml'), providers, otherwise).map(({ line, column, message }) => `${line}:${column} ${message}`);
  const text = (provider: string) => `name: a\n${provider}\nnetwork: full\nepisode: {run: x, timeout: 5s}\n`;

  it('asks the provider that is named, by the template before anybody else', () => {
    assert.equal(found(text('provider: nothing'), [ALL, NOTHING]).length, 2);
    assert.equal(found(text('provider: all'), [ALL, NOTHING], 'nothing').length, 0);
    assert.equal(found(text('provider: auto'), [ALL, NOTHING], 'nothing').length, 2);
  });

  it('with none named, says what no provider of this machine can do', () => {
    assert.equal(found(text(''), [ALL, NOTHING]).length, 0);
    assert.equal(found(text(''), [NOTHING, CLOUD]).length, 2);
  });

  it('says that there is no such provider, and which is meant, whatever else is wrong', () => {
    assert.deepEqual(found(text('provider: nothign'), [ALL, NOTHING]), ['2:11 there is no provider "nothign": did you mean "nothing"?']);
    assert.deepEqual(found('provider: lambda\n', [ALL]), ['1:11 there is no provider "lambda": expected `auto` or `all`']);
  });

  it('says a fault of its spelling once', () => assert.deepEqual(found('provider: "a b"\n', [ALL]), []));
});
