/** Images to start from: found on the engine, pulled, or built. */
import type Docker from 'dockerode';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BuildFailed, LimitExceeded, SandboxError, Unsupported } from '../errors.js';
import type { BaseImage, BuildOptions } from '../provider.js';
import { allRegistryAuths, registryAuth, registryOf } from './auth.js';
import { buildContext } from './buildContext.js';
import type { Surroundings } from './endpoint.js';
import type { Engine } from './engine.js';
import { reasonOf, statusOf } from './failures.js';
import { progressEvents, progressText, Tail } from './progress.js';

/** What a template without an image starts from. */
export const DEFAULT_IMAGE = 'debian:bookworm-slim';

/** Every reference is made of these; the engine says what else is wrong with one. */
const REFERENCE = /^[A-Za-z0-9._/:@-]+$/;
const BUILD_TIMEOUT_MS = 3_600_000;

/** Id of the image (`sha256:...`), which changes with its content. An image that the engine has is used without asking a registry. */
export function resolveImage(engine: Engine, { image, dockerfile }: BaseImage, options: BuildOptions | undefined): Promise<string> {
  if (image !== undefined && /^[./]/.test(image)) throw new Unsupported(`a root folder (${image}) cannot be used with Docker; name an image, or use bubblewrap`);
  if (dockerfile) return buildImage(engine, dockerfile, options);
  const reference = image ?? DEFAULT_IMAGE;
  if (!REFERENCE.test(reference)) throw new BuildFailed(`"${reference}" is no name of an image`);
  return engine.call(`Getting the image ${reference}`, options, BUILD_TIMEOUT_MS, async (docker, signal) => {
    const local = await localId(docker, reference);
    if (local !== undefined) return local;
    await pull(docker, engine.around, reference, options, signal);
    return (await localId(docker, reference)) ?? fail(reference, 'the engine pulled it and does not have it');
  });
}

const localId = (docker: Docker, reference: string): Promise<string | undefined> =>
  docker.getImage(reference).inspect().then(
    ({ Id }) => Id,
    (error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      // What the engine cannot read as a reference at all.
      if (statusOf(error) === 400) return fail(reference, reasonOf(error));
      throw error;
    },
  );

async function pull(docker: Docker, around: Surroundings, reference: string, options: BuildOptions | undefined, signal: AbortSignal): Promise<void> {
  const authconfig = await registryAuth(registryOf(reference), around);
  let stream: Readable;
  try {
    stream = (await docker.pull(reference, { abortSignal: signal, ...(authconfig ? { authconfig } : {}) })) as Readable;
  } catch (error) {
    if (statusOf(error) === undefined) throw error;
    return fail(reference, reasonOf(error), error);
  }
  for await (const event of progressEvents(stream)) {
    if (event.error !== undefined) fail(reference, event.errorDetail?.message ?? event.error);
    say(options, progressText(event));
  }
}

/** Always throws: with one sentence that names the image and says what the registry said. */
function fail(reference: string, answer: string, cause?: unknown): never {
  if (/no space left on device/i.test(answer)) throw new LimitExceeded(`there is no disk space for the image ${reference} (${answer})`, { cause });
  const advice = /no such host|dial tcp|connection refused|i\/o timeout|TLS handshake|network is unreachable|request canceled|EOF$/i.test(answer)
    ? `the image ${reference} is not on the engine, and its registry cannot be reached: ${answer}`
    : /denied|unauthorized|authentication required|no basic auth/i.test(answer)
      ? `the image ${reference} does not exist, or needs \`docker login\`: ${answer}`
      : /manifest unknown|not found|does not exist/i.test(answer)
        ? `the image ${reference} does not exist: ${answer}`
        : `the image ${reference} cannot be had: ${answer}`;
  throw new BuildFailed(advice, '', { cause });
}

async function buildImage(engine: Engine, dockerfile: { readonly file: string; readonly context: string }, options: BuildOptions | undefined): Promise<string> {
  const context = await buildContext(dockerfile);
  // One name for each Dockerfile, so that what an earlier build left is unnamed and `docker image prune` may take it.
  const tag = `rl-sandboxes/build:${createHash('sha256').update(`${dockerfile.context}\0${dockerfile.file}`).digest('hex').slice(0, 12)}`;
  const registryconfig = await allRegistryAuths(engine.around);
  const tail = new Tail();
  try {
    return await engine.call(`Building ${dockerfile.file}`, options, BUILD_TIMEOUT_MS, async (docker, signal) => {
      const stream = (await docker.buildImage(context.tar, {
        dockerfile: context.dockerfile,
        t: tag,
        rm: true,
        forcerm: true,
        registryconfig,
        abortSignal: signal,
      } as Docker.ImageBuildOptions)) as Readable;
      let id: string | undefined;
      for await (const event of progressEvents(stream)) {
        if (event.error !== undefined) throw buildFailure(dockerfile.file, event.errorDetail?.message ?? event.error, tail);
        id = event.aux?.ID ?? id;
        const text = progressText(event);
        tail.add(text);
        say(options, text);
      }
      return id ?? (await docker.getImage(tag).inspect()).Id;
    });
  } catch (error) {
    // A Dockerfile that cannot be read is refused with a status, not in the stream.
    if (error instanceof SandboxError && statusOf(error.cause) !== undefined && !(error instanceof LimitExceeded)) throw buildFailure(dockerfile.file, reasonOf(error.cause), tail, error.cause);
    throw error;
  } finally {
    context.tar.destroy();
  }
}

function buildFailure(file: string, reason: string, tail: Tail, cause?: unknown): SandboxError {
  if (/no space left on device/i.test(reason)) return new LimitExceeded(`there is no disk space to build ${file} (${reason})`, { cause });
  const advice = /BuildKit/i.test(reason) ? '; build it with `docker build -t NAME` yourself, and write `image: NAME` in place of `dockerfile`' : '';
  return new BuildFailed(`building ${file} failed: ${reason.trim()}${advice}`, tail.lines(40), { cause });
}

function say(options: BuildOptions | undefined, text: string): void {
  if (text !== '') options?.onOutput?.(Buffer.from(text));
}
