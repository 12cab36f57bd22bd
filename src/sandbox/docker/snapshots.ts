/** Snapshots are images: a commit of the container on top of what it started from. */
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { SandboxError } from '../errors.js';
import type { OperationOptions, ProviderSnapshot, SandboxLabels } from '../provider.js';
import type { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import { BASE_LAYERS_LABEL, CHECKPOINT_IMAGE, SNAPSHOT_LABEL, snapshotLabels } from './labels.js';

const COMMIT_TIMEOUT_MS = 900_000;
const IMAGE_TIMEOUT_MS = 60_000;

/** Commits a container, which is paused meanwhile. */
export function commit(engine: Engine, name: string, labels: SandboxLabels, options: OperationOptions | undefined): Promise<ProviderSnapshot> {
  return engine.call('Taking the snapshot', options, COMMIT_TIMEOUT_MS, async (docker, signal) => {
    const container = docker.getContainer(name);
    const { Image } = await container.inspect({ abortSignal: signal });
    const { Config: base, RootFS } = await docker.getImage(Image).inspect();
    const baseLayers = Number((base.Labels as Record<string, string> | null)?.[BASE_LAYERS_LABEL] ?? RootFS?.Layers?.length ?? 0);
    const [repo, tag] = snapshotName(labels);
    const changes = [...restored(base), ...labelled(snapshotLabels(labels, baseLayers))].join('\n');
    const query = { container: name, repo, tag, pause: true, changes };
    const { Id } = (await container.commit({ _query: query, _body: { StopSignal: 'SIGTERM' }, abortSignal: signal } as object)) as unknown as { Id: string };
    const ref = Id.startsWith('sha256:') ? Id : `sha256:${Id}`;
    // The newest layer, which is what the container had written.
    const [layer] = (await docker.getImage(Id).history()) as { Size: number }[];
    return { provider: engine.kind.id, kind: 'filesystem', ref, sizeBytes: layer?.Size ?? 0 };
  });
}

/** Instructions that give the image back what its base said and the container had to say otherwise. A commit takes what they leave empty from the container. */
function restored(base: { Entrypoint?: string | string[] | null; Cmd?: string[] | null; User?: string }): string[] {
  const entrypoint = [base.Entrypoint ?? []].flat();
  const command = base.Cmd ?? [];
  return [
    ...(entrypoint.length > 0 ? [`ENTRYPOINT ${JSON.stringify(entrypoint)}`] : []),
    ...(command.length > 0 ? [`CMD ${JSON.stringify(command)}`] : entrypoint.length > 0 ? [] : ['CMD ["/bin/sh"]']),
    `USER ${base.User || '0'}`,
  ];
}

/** Instructions that label the image; Podman does not read labels from the body of the request. */
const labelled = (labels: Readonly<Record<string, string>>): string[] => Object.entries(labels).map(([name, value]) => `LABEL ${quoted(name)}=${quoted(value)}`);

const quoted = (text: string): string => `"${text.replaceAll(/[\\"$]/g, '\\$&')}"`;

/** A name for people, and so that `docker image prune` does not take the image for a left-over; unique, since a name can point to one image only. */
export function snapshotName({ template, digest }: SandboxLabels): [repository: string, tag: string] {
  const repository = (template ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'snapshot';
  const content = (digest ?? '').replace(/^sha256:/, '').replace(/[^A-Za-z0-9_]/g, '').slice(0, 12);
  return [`rl-sandboxes/${repository}`, [content, randomBytes(3).toString('hex')].filter(Boolean).join('-')];
}

/** One that has lost its name was removed, and is only kept by the engine because others are based on it. */
export function hasImage(engine: Engine, ref: string, options: OperationOptions | undefined): Promise<boolean> {
  return engine.call('Looking for the snapshot', options, IMAGE_TIMEOUT_MS, async (docker) => namesOf(await lookAt(docker, ref)).own.length > 0);
}

export const hasName = async (docker: Docker, name: string): Promise<boolean> => (await lookAt(docker, name)) !== undefined;

/** Names of an image as a snapshot, and those that keep it for memory snapshots. */
function namesOf(image: Docker.ImageInspectInfo | undefined): { own: string[]; kept: string[] } {
  const names = image?.RepoTags ?? [];
  return { own: names.filter((name) => !name.startsWith(`${CHECKPOINT_IMAGE}:`)), kept: names.filter((name) => name.startsWith(`${CHECKPOINT_IMAGE}:`)) };
}

/**
 * Removes the image and its names, and no image that was not a snapshot. What is not there is a success. One that others are based on only loses its
 * names: the engine keeps it until the last of those has gone, and then it goes too. So does one that a memory snapshot needs.
 */
export function removeImage(engine: Engine, ref: string, options: OperationOptions | undefined): Promise<void> {
  return engine.call('Removing the snapshot', options, IMAGE_TIMEOUT_MS, async (docker, signal) => {
    const image = await lookAt(docker, ref);
    const { own, kept } = namesOf(image);
    if (kept.length > 0) for (const name of own) await remove(docker, name, signal);
    else if (image && (await removeOne(docker, ref, own, signal))) await removeAbandoned(docker, image.Parent, signal);
  });
}

/** Takes a name away from an image, and the image with it if that was the last one. What is not there is a success. */
export async function releaseImage(docker: Docker, name: string, signal?: AbortSignal): Promise<void> {
  const image = await lookAt(docker, name);
  if (!image) return;
  await remove(docker, name, signal);
  if ((image.RepoTags ?? []).length <= 1) await removeAbandoned(docker, image.Parent, signal);
}

/** On the way up: only snapshots that were removed already. */
async function removeAbandoned(docker: Docker, from: string | undefined, signal?: AbortSignal): Promise<void> {
  for (let at = from; at; ) {
    const image = await lookAt(docker, at);
    if (!image || (image.RepoTags ?? []).length > 0 || image.Config.Labels?.[SNAPSHOT_LABEL] !== '1') return;
    if (!(await removeOne(docker, at, [], signal))) return;
    at = image.Parent;
  }
}

/** False if others are based on it, so that only its names could be taken away. */
async function removeOne(docker: Docker, id: string, names: readonly string[], signal?: AbortSignal): Promise<boolean> {
  try {
    await remove(docker, id, signal);
    return true;
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    if (!/dependent child/i.test(reasonOf(error))) throw new SandboxError(`the snapshot is in use: ${reasonOf(error)}`, { cause: error });
  }
  for (const name of names) await remove(docker, name, signal);
  return false;
}

async function remove(docker: Docker, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await docker.getImage(name).remove({ force: true, noprune: true, abortSignal: signal } as Docker.ImageRemoveOptions);
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}

async function lookAt(docker: Docker, ref: string): Promise<Docker.ImageInspectInfo | undefined> {
  try {
    return await docker.getImage(ref).inspect();
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}
