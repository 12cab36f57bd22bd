/** Records as the engine sends them, for tests of what is made of them. */
import type { EpisodeRecord } from '../../../src/protocol/runView.js';
import type { RunSummary, TemplateStatus } from '../../../src/runner/api.js';
import type { SandboxReport, SnapshotReport } from '../../../src/runner/sandboxApi.js';
import type { RunRecord, SnapshotRecord } from '../../../src/store/records.js';

export const NOW = 1_800_000_000_000;
export const ROOT = '/work';
export const FILE = '/work/hello.rlenv.yaml';

export const run = (changes: Partial<RunRecord> = {}): RunRecord => ({
  id: 'hello-1', number: 14, state: 'done', owner: '1:1:b', createdAt: NOW - 120_000, startedAt: NOW - 100_000, finishedAt: NOW - 59_000, templateDigest: 'sha256:aa',
  total: 512, file: FILE, template: 'hello', provider: 'bubblewrap', seeds: { first: 0, last: 511 }, samples: 1, concurrency: 64, timeoutMs: 30_000, policy: 'script',
  ...changes,
});

export const summary = (changes: Partial<RunSummary> = {}, record: Partial<RunRecord> = {}): RunSummary => ({
  run: run(record), finished: 512, running: 0, errors: 0, unscored: 0, mean: 0.4971, ci95: 0.0251, episodesPerSecond: 18.4, ...changes,
});

export const episode = (changes: Partial<EpisodeRecord> = {}): EpisodeRecord => ({
  episode: 0, seed: 0, sample: 0, status: 'completed', steps: 1, attempts: 1, startedAt: NOW, reward: 0.5, components: [], artifacts: 0,
  timings: { restore: 10, act: 50, score: 5, terminate: 10, total: 75 }, output: { stdout: 9, stderr: 0, dropped: 0 },
  ...changes,
});

export const snapshot = (changes: Partial<SnapshotRecord> = {}): SnapshotRecord =>
  ({ id: 'hello-8f31c2', template: 'hello', file: FILE, digest: 'sha256:8f31c2aabbcc', parts: {}, createdAt: NOW - 120_000, buildMs: 900, provider: 'bubblewrap', kind: 'filesystem', ref: 'x', sizeBytes: 12_000_000, ...changes }) as SnapshotRecord;

export const status = (changes: Partial<TemplateStatus> = {}): TemplateStatus => ({ file: FILE, name: 'hello', state: 'built', snapshots: [snapshot()], current: 'hello-8f31c2', problems: [], ...changes });

export const sandbox = (changes: Partial<SandboxReport> = {}): SandboxReport => ({
  id: 'bw-0007c1e', provider: 'bubblewrap', state: 'running', createdAt: NOW - 240_000, labels: { owner: 'o', template: 'hello', expires: NOW + 3_600_000 },
  origin: 'opened', attached: true, orphan: false, ageMs: 240_000, remainingMs: 3_360_000, forwards: [], services: [],
  usage: { cpu: 0.031, cpuMs: 900, memory: 41_000_000, pids: 3, at: 1 },
  ...changes,
});

export const snapshotReport = (changes: Partial<SnapshotReport> = {}): SnapshotReport => ({ ...snapshot(), ownBytes: 12_000_000, exists: true, stale: [], children: [], usedBy: [], live: 0, ...changes });
