/** Who a container belongs to, as its labels, and back. */
import type { SandboxInfo, SandboxLabels } from '../provider.js';

export const PREFIX = 'rl-sandboxes.';
export const ID_LABEL = `${PREFIX}id`;

/** On an image: that it is a snapshot, and how many of its layers are what the first build started from. */
export const SNAPSHOT_LABEL = `${PREFIX}snapshot`;
export const BASE_LAYERS_LABEL = `${PREFIX}base-layers`;

/** Repository of the names that images have for the memory snapshots that need them. */
export const CHECKPOINT_IMAGE = 'localhost/rl-sandboxes/checkpoint';

export const containerName = (id: string): string => `rl-${id}`;

export function containerLabels(id: string, labels: SandboxLabels, now = Date.now()): Record<string, string> {
  const { owner, run, episode, template, digest, snapshot, expires } = labels;
  // The image's own label says that it is a snapshot.
  const entries = Object.entries({ id, owner, run, episode, template, digest, 'restored-from': snapshot, expires, created: now });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined).map(([name, value]) => [PREFIX + name, String(value)]));
}

/** Labels of the image that a snapshot becomes. Empty values take the place of the container's own, which say who its owner was. */
export function snapshotLabels(labels: SandboxLabels, baseLayers: number): Record<string, string> {
  const emptied = Object.fromEntries(Object.keys(containerLabels('', labels)).map((name) => [name, '']));
  return { ...emptied, [SNAPSHOT_LABEL]: '1', [BASE_LAYERS_LABEL]: String(baseLayers), [`${PREFIX}template`]: labels.template ?? '', [`${PREFIX}digest`]: labels.digest ?? '' };
}

/** What the engine lists; undefined if it is not a sandbox of this project, such as one that a person started from a snapshot by hand. */
export function sandboxInfo(container: { Names: readonly string[]; Labels: Readonly<Record<string, string>>; State: string; Created: number }, provider = 'docker'): SandboxInfo | undefined {
  const get = (name: string): string | undefined => container.Labels[PREFIX + name] || undefined;
  const id = get('id');
  const owner = get('owner');
  if (id === undefined || owner === undefined || !container.Names.some((name) => name.replace(/^\//, '') === containerName(id))) return undefined;
  const episode = get('episode');
  return {
    id,
    provider,
    labels: { owner, run: get('run'), episode: episode === undefined ? undefined : Number(episode), template: get('template'), digest: get('digest'), snapshot: get('restored-from'), expires: Number(get('expires') ?? 0) },
    createdAt: Number(get('created') ?? container.Created * 1000),
    state: stateOf(container.State),
  };
}

function stateOf(state: string): SandboxInfo['state'] {
  if (state === 'created') return 'starting';
  return ['running', 'paused', 'restarting'].includes(state) ? 'running' : 'exited';
}
