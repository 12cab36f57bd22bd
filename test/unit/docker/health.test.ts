import { strict as assert } from 'node:assert';
import type Docker from 'dockerode';
import { WrongContext } from '../../../src/sandbox/docker/contexts.js';
import type { Endpoint } from '../../../src/sandbox/docker/endpoint.js';
import { translate, unreachable } from '../../../src/sandbox/docker/failures.js';
import { describe as describeEngine } from '../../../src/sandbox/docker/health.js';
import { LimitExceeded, ProviderUnavailable, SandboxLost, Unsupported } from '../../../src/sandbox/errors.js';

const DEFAULT: Endpoint = { url: 'unix:///var/run/docker.sock', why: 'default socket', transport: { kind: 'socket', path: '/var/run/docker.sock' } };
const NAMED: Endpoint = { ...DEFAULT, why: 'context "work"' };
const version = (more: object = {}): Docker.DockerVersion => ({ Version: '27.1.0', ApiVersion: '1.46', Os: 'linux', Components: [], ...more }) as unknown as Docker.DockerVersion;
const INFO = { OSType: 'linux', Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'xfs']] as [string, string][], CgroupDriver: 'systemd', CgroupVersion: '2', CpuCfsQuota: true, MemoryLimit: true, PidsLimit: true, SecurityOptions: ['name=seccomp,profile=builtin'] };
const coded = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
const answered = (statusCode: number, message: string) => Object.assign(new Error(`(HTTP code ${statusCode}) unexpected - ${message} `), { statusCode, json: { message } });

describe('docker health', () => {
  it('says what was found, why, and what is in force', () => {
    const health = describeEngine(DEFAULT, version(), INFO);
    assert.equal(health.summary, 'Docker 27.1.0 at unix:///var/run/docker.sock');
    assert.deepEqual(health.limits, { cpu: 'cgroup', memory: 'cgroup', pids: 'cgroup', disk: 'rlimit' });
    assert.equal(health.details!.endpoint, 'unix:///var/run/docker.sock, chosen by default socket');
    assert.equal(health.details!.storage, 'overlay2 on xfs');
  });

  it('knows Podman, rootless engines and those without control groups', () => {
    assert.match(describeEngine(DEFAULT, version({ Components: [{ Name: 'Podman Engine' }] }), INFO).summary, /^Podman 27/);
    const rootless = describeEngine(DEFAULT, version(), { ...INFO, CgroupDriver: 'none', SecurityOptions: ['name=rootless'] });
    assert.deepEqual(rootless.limits, { cpu: 'none', memory: 'none', pids: 'none', disk: 'rlimit' });
    assert.match(rootless.details!.engine!, /rootless/);
    assert.match(describeEngine(DEFAULT, version(), { ...INFO, Runtimes: { nvidia: {} } }).details!.gpu!, /^NVIDIA runtime/);
  });

  it('refuses what it cannot work with', () => {
    assert.equal(describeEngine(DEFAULT, version(), { ...INFO, OSType: 'windows' }).code, 'unsupported');
    assert.equal(describeEngine(DEFAULT, version({ ApiVersion: '1.39' }), INFO).code, 'unsupported');
    assert.equal(describeEngine(DEFAULT, version({ ApiVersion: '1.40' }), INFO).ok, true);
  });

  it('tells the reasons apart that an engine does not answer for', () => {
    const reasons = (error: Error, endpoint = DEFAULT) => unreachable(error, endpoint);
    assert.equal(reasons(coded('EACCES')).code, 'permission');
    assert.match(reasons(coded('EACCES')).hint, /group docker/);
    assert.equal(reasons(coded('ENOENT')).code, 'not-running');
    assert.match(reasons(coded('ECONNREFUSED'), NAMED).hint, /context "work"/);
    assert.equal(reasons(new WrongContext('gone')).code, 'wrong-context');
  });

  it('turns what the engine says into errors that say what to do', () => {
    assert.ok(translate(coded('ECONNRESET'), 'Doing', DEFAULT) instanceof ProviderUnavailable);
    assert.ok(translate(answered(404, 'No such container: rl-x'), 'Doing', DEFAULT) instanceof SandboxLost);
    assert.ok(translate(answered(409, 'Container x is not running'), 'Doing', DEFAULT) instanceof SandboxLost);
    assert.ok(translate(answered(500, 'write /x: no space left on device'), 'Doing', DEFAULT) instanceof LimitExceeded);
    assert.ok(translate(answered(500, 'could not select device driver "" with capabilities: [[gpu]]'), 'Doing', DEFAULT) instanceof Unsupported);
    assert.equal((translate(answered(500, 'odd'), 'Doing', DEFAULT) as Error).message, 'Doing failed: odd');
    const own = new Error('reason of a signal');
    assert.equal(translate(own, 'Doing', DEFAULT), own);
  });
});
