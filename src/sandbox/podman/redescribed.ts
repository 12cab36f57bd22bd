/** The archive of a checkpoint with what it says of its container changed: whose it is, what it may use, and which image it is based on. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { pidsLimit } from '../docker/container.js';
import { containerLabels, PREFIX } from '../docker/labels.js';
import { SandboxError } from '../errors.js';
import type { NetworkPolicy, Resources, SandboxSpec } from '../provider.js';
import { IDS, MOST_IDS, withTimeNamespaceOf } from './timeNamespaces.js';

export interface Container {
  readonly id: string;
  readonly spec: SandboxSpec;
  /** Name of its image. */
  readonly image: string;
}

interface RuntimeSpec {
  readonly linux?: { readonly resources?: object };
  readonly hooks?: object;
}

/** Podman's own description of the container, and the runtime's. */
type Config = RuntimeSpec & { readonly labels?: Readonly<Record<string, string>>; readonly rootfsImageName?: string; readonly conmonPidFile?: string; readonly pid_file?: string; readonly spec?: RuntimeSpec };
const CONFIG = 'config.dump';
const SPEC = 'spec.dump';
const MOST_DESCRIPTION = 16 << 20;
/** Of the kernel's accounts of processor time, microseconds. */
const CPU_PERIOD = 100_000;

/**
 * Run by the runtime on Podman's machine when the namespaces are there, with the state of the container on standard input: CRIU leaves the network namespace
 * of a container without a network empty, its loopback interface down. See "hooks" in the runtime's specification.
 */
const LOOPBACK_UP = {
  path: '/bin/sh',
  args: ['sh', '-c', `pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p') && exec nsenter --target "$pid" --net ip link set lo up`],
  env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  timeout: 30,
};

export function redescribed(archive: AsyncIterable<Uint8Array>, container: Container): Readable {
  const to = pack();
  const parser = extract();
  const run = async (): Promise<void> => {
    const ids: [Header, Buffer][] = [];
    const feed = pipeline(archive, parser);
    feed.catch(() => undefined);
    for await (const entry of parser) {
      const { header } = entry as unknown as { header: Header };
      const body = entry as unknown as Readable;
      if (header.name === CONFIG) await describe(body, header, to, (config) => withOwner(config, container));
      else if (header.name === SPEC) await describe(body, header, to, (spec) => adapted(spec, container.spec));
      else if (IDS.test(header.name) && header.type === 'file') ids.push([header, await whole(body, header, MOST_IDS)]);
      else await copy(body, to, header);
    }
    const first = ids.find(([{ name }]) => IDS.exec(name)?.[1] === '1')?.[1];
    for (const [header, image] of ids) await put(to, header, first ? withTimeNamespaceOf(first, image) : image);
    // What comes after the last entry is looked at too, before the archive is given its end.
    await feed;
    to.finalize();
  };
  run().catch((cause: Error) => to.destroy(cause instanceof SandboxError ? cause : new SandboxError('the memory snapshot is not what it was when it was taken; delete it', { cause })));
  return Readable.from(to, { objectMode: false });
}

function withOwner(config: Config, { id, spec, image }: Container): Config {
  const foreign = Object.entries(config.labels ?? {}).filter(([name]) => !name.startsWith(PREFIX));
  // Where the container before had its own: Podman makes others, but for the second, which may lie in a folder that is gone.
  const { conmonPidFile: _, pid_file: __, ...own } = config;
  return { ...own, labels: { ...Object.fromEntries(foreign), ...containerLabels(id, spec.labels) }, rootfsImageName: image, ...(config.spec && { spec: adapted(config.spec, spec) }) };
}

const adapted = (config: RuntimeSpec, { resources, network }: SandboxSpec): RuntimeSpec => ({ ...limited(config, resources, network), ...(network !== 'full' && { hooks: { createRuntime: [LOOPBACK_UP] } }) });

function limited(spec: RuntimeSpec, { cpu, memory, pids }: Resources, network: NetworkPolicy): RuntimeSpec {
  const limits = {
    pids: { limit: pidsLimit(pids, network) },
    ...(memory !== undefined && { memory: { limit: memory, swap: memory } }),
    ...(cpu !== undefined && { cpu: { quota: Math.max(1000, Math.round(cpu * CPU_PERIOD)), period: CPU_PERIOD } }),
  };
  // None of the limits of the one before: what is not asked for is not limited.
  const { pids: _, memory: __, cpu: ___, ...resources } = { ...spec.linux?.resources } as Record<string, unknown>;
  return { ...spec, linux: { ...spec.linux, resources: { ...resources, ...limits } } };
}

async function describe(body: Readable, header: Header, to: Pack, change: (description: object) => object): Promise<void> {
  await put(to, header, Buffer.from(JSON.stringify(change(JSON.parse((await whole(body, header, MOST_DESCRIPTION)).toString()) as object))));
}

function whole(body: Readable, { size = 0 }: Header, most: number): Promise<Buffer> {
  if (size > most) throw new SandboxError('the memory snapshot cannot be read: its description is too large');
  return buffer(body);
}

function put(to: Pack, header: Header, data: Buffer): Promise<void> {
  return new Promise<void>((resolve, reject) => void to.entry({ ...header, size: data.length, pax: undefined }, data, (error) => (error ? reject(error) : resolve())));
}

function copy(body: Readable, to: Pack, header: Header): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new SandboxError('Podman stopped reading the memory snapshot'));
    to.once('close', gone);
    const done = (error?: Error | null): void => {
      to.off('close', gone);
      if (error) reject(error);
      else resolve();
    };
    const sink = to.entry({ ...header, pax: undefined }, done);
    if (header.type === 'file' || header.type === 'contiguous-file') pipeline(body as unknown as NodeJS.ReadableStream, sink as unknown as NodeJS.WritableStream).catch(reject);
    else body.resume();
  });
}
