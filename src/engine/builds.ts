/** Builds and their snapshots: cached on the digest of all that went in, built once however many ask at the same time. */
import { dirname, relative } from 'node:path';
import type { Provider } from '../sandbox/provider.js';
import { buildSnapshot } from '../rollout/build.js';
import { settingsOf } from '../rollout/settings.js';
import type { SnapshotRecord } from '../store/records.js';
import type { SnapshotStore } from '../store/snapshotStore.js';
import { templateDigest } from '../template/digest.js';
import type { RewardComponentSpec, Template } from '../template/template.js';
import type { BuildResult } from './reports.js';

export interface BuildRequest {
  readonly rebuild?: boolean;
  readonly signal: AbortSignal;
  /** Asked for only if there is something to build. Rejects with `MissingSecret`. */
  readonly secrets: () => Promise<Readonly<Record<string, string>>>;
  /** Output as it comes, without secrets; hostile text. */
  readonly onOutput?: (text: string) => void;
}

export const PLATFORM = `${process.platform}-${process.arch}`;

/** What a build starts from: the name as written, so that another one is seen without asking a provider, and the content it stood for. */
export const baseKey = ({ base: { image, dockerfile }, directory }: Template, digest: string): string =>
  `${image ?? (dockerfile ? relative(directory, dockerfile.file) : 'default')} ${digest}`;

export class Builds {
  private readonly underway = new Map<string, Promise<BuildResult>>();

  constructor(
    private readonly snapshots: SnapshotStore,
    private readonly owner: string,
  ) {}

  /** Rejects with `BuildFailed`, `MissingSecret` or an infrastructure error; then no snapshot is kept. */
  async build(template: Template, provider: Provider, request: BuildRequest): Promise<BuildResult> {
    const onOutput = request.onOutput ?? (() => undefined);
    const base = await provider.resolve(template.base, { signal: request.signal, onOutput: decoded(onOutput) });
    const { digest, parts } = await templateDigest(template, { provider: provider.id, platform: PLATFORM, base: baseKey(template, base) });
    const key = `${provider.id} ${digest}`;
    const other = this.underway.get(key);
    if (other && !request.rebuild) return other.then(({ snapshot }) => ({ snapshot, built: false }));
    const build = this.buildOnce(template, provider, { base, digest, parts }, { ...request, onOutput });
    this.underway.set(key, build);
    try {
      return await build;
    } finally {
      if (this.underway.get(key) === build) this.underway.delete(key);
    }
  }

  private async buildOnce(
    template: Template,
    provider: Provider,
    key: Pick<SnapshotRecord, 'base' | 'digest' | 'parts'>,
    request: BuildRequest & { onOutput: (text: string) => void },
  ): Promise<BuildResult> {
    const known = (await this.snapshots.list()).filter((record) => record.digest === key.digest && record.provider === provider.id && record.origin === undefined);
    if (!request.rebuild)
      for (const record of known) if (await provider.hasSnapshot(record, { signal: request.signal })) return { snapshot: record, built: false };

    const secrets = await request.secrets();
    const started = Date.now();
    const made = await buildSnapshot(template, {
      provider,
      labels: { owner: this.owner, template: template.name, digest: key.digest },
      secrets,
      signal: request.signal,
      onOutput: request.onOutput,
    });
    const snapshot: SnapshotRecord = {
      ...made,
      ...key,
      id: `${key.digest.slice(0, 8)}-${started.toString(36)}`,
      template: template.name,
      file: template.file,
      settings: settingsOf(template),
      createdAt: Date.now(),
      buildMs: Date.now() - started,
    };
    try {
      await this.snapshots.save(snapshot);
    } catch (error) {
      await provider.removeSnapshot(made).catch(() => undefined);
      throw error;
    }
    return { snapshot, built: true };
  }

  /** Removes the registry's entry and what the provider keeps of it. */
  async remove(record: SnapshotRecord, provider: Provider): Promise<void> {
    await provider.removeSnapshot(record);
    await this.snapshots.remove(record.id);
  }
}

/** What a reward's second sandbox is built from: a template of its own, without files. */
export function scoringTemplate(template: Template, component: Extract<RewardComponentSpec, { type: 'sandbox' }>): Template {
  const { image, dockerfile, resources, env, setup } = component;
  return {
    ...template,
    ...{ resources, env, setup },
    // It runs what the author wrote, on files, in an image of its own.
    ...{ isolation: 'default', user: undefined, writable: undefined },
    name: `${template.name}-scorer`,
    base: dockerfile ? { dockerfile: { file: dockerfile, context: dirname(dockerfile) } } : { image },
    packages: { apt: [], python: [] },
    files: [],
  };
}

function decoded(onOutput: (text: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  return (chunk) => onOutput(decoder.decode(chunk, { stream: true }));
}
