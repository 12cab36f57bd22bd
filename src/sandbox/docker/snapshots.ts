/** Snapshots are images: a commit of the container on top of what it started from. */
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { SandboxError } from '../errors.js';
import type { OperationOptions, ProviderSnapshot, SandboxLabels } from '../provider.js';
import type { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import { BASE_LAYERS_LABEL, snapshotLabels } from './labels.js';

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
    const query = { container: name, repo, tag, pause: true, changes: restored(base).join('\n') };
    const { Id } = (await container.commit({ _query: query, _body: { Labels: snapshotLabels(labels, baseLayers), StopSignal: 'SIGTERM' }, abortSignal: signal } as object)) as unknown as { Id: string };
    // The newest layer, which is what the container had written.
    const [layer] = (await docker.getImage(Id).history()) as { Size: number }[];
    return { provider: 'docker', kind: 'filesystem', ref: Id, sizeBytes: layer?.Size ?? 0 };
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

/** A name for people, and so that `docker image prune` does not take the image for a left-over; unique, since a name can point to one image only. */
export function snapshotName({ template, digest }: SandboxLabels): [repository: string, tag: string] {
  const repository = (template ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'snapshot';
  const content = (digest ?? '').replace(/^sha256:/, '').replace(/[^A-Za-z0-9_]/g, '').slice(0, 12);
  return [`rl-sandboxes/${repository}`, [content, randomBytes(3).toString('hex')].filter(Boolean).join('-')];
}

export function hasImage(engine: Engine, ref: string, options: OperationOptions | undefined): Promise<boolean> {
  return engine.call('Looking for the snapshot', options, IMAGE_TIMEOUT_MS, (docker) =>
    docker.getImage(ref).inspect().then(
      () => true,
      (error: unknown) => {
        if (statusOf(error) === 404) return false;
        throw error;
      },
    ),
  );
}

/** Removes the image and its names, and no image that it was made from. What is not there is a success. */
export function removeImage(engine: Engine, ref: string, options: OperationOptions | undefined): Promise<void> {
  return engine.call('Removing the snapshot', options, IMAGE_TIMEOUT_MS, async (docker, signal) => {
    try {
      await docker.getImage(ref).remove({ force: true, noprune: true, abortSignal: signal } as Docker.ImageRemoveOptions);
    } catch (error) {
      if (statusOf(error) === 404) return;
      if (statusOf(error) === 409) throw new SandboxError(`the snapshot is in use: ${reasonOf(error)}`, { cause: error });
      throw error;
    }
  });
}
