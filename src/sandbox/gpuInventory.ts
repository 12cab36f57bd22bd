/** Which GPUs this machine has: by `nvidia-smi`, else by CDI specifications, else by `rocm-smi`. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runCommand } from './command.js';
import type { GpuDevice } from './provider.js';

const ASK_TIMEOUT_MS = 15_000;
/** Where container engines look for specifications (https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md). */
const CDI_FOLDERS = ['/etc/cdi', '/var/run/cdi'];
const DRM = '/sys/class/drm';

/** Where to look; the machine's own places if absent. */
export interface Places {
  readonly env?: NodeJS.ProcessEnv;
  readonly cdi?: readonly string[];
  readonly drm?: string;
}

/** None if there are none, or if nothing tells. */
export async function gpuInventory({ env = process.env, cdi = CDI_FOLDERS, drm = DRM }: Places = {}, signal?: AbortSignal): Promise<GpuDevice[]> {
  const ask = async (program: string, ...args: string[]): Promise<string> => {
    const limit = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const { code, stdout } = await runCommand(program, args, { env, signal: signal ? AbortSignal.any([signal, limit]) : limit }).catch(() => ({ code: 127, stdout: '' }));
    signal?.throwIfAborted();
    return code === 0 ? stdout : '';
  };
  const nvidia = parseNvidia(await ask('nvidia-smi', '--query-gpu=index,uuid,name', '--format=csv,noheader'));
  if (nvidia.length > 0) return nvidia;
  const described = parseCdi(await specifications(cdi));
  if (described.length > 0) return described;
  const rocm = parseRocm(await ask('rocm-smi', '--showproductname', '--showuniqueid', '--json'));
  return Promise.all(rocm.map(async (device) => ({ ...device, nodes: [KFD, ...(await renderNodes(join(drm, device.id, 'device/drm')))] })));
}

/** What all programs of ROCm open, besides the device's own node. */
const KFD = '/dev/kfd';

/** Lines `0, GPU-5c1c0f0a-..., NVIDIA A100-SXM4-40GB`. */
export function parseNvidia(csv: string): GpuDevice[] {
  return csv.split('\n').flatMap((line) => {
    const [, index, uuid, model] = /^\s*(\d+), (GPU-[\w-]+), (.+?)\s*$/.exec(line) ?? [];
    return index === undefined || uuid === undefined ? [] : [{ via: 'nvidia' as const, id: uuid, names: [index, uuid], model }];
  });
}

/** A device that has several names, as its number and its identifier, has the same nodes under each; what has the nodes of several, such as `all`, is none. */
function parseCdi(texts: readonly string[]): GpuDevice[] {
  const byNodes = new Map<string, { id: string; names: string[]; nodes: string[] }>();
  for (const text of texts) {
    const { kind, devices } = specification(text);
    for (const { name, containerEdits } of devices) {
      const nodes = (containerEdits?.deviceNodes ?? []).flatMap(({ path }) => path ?? []).sort();
      const key = `${kind} ${nodes.join(' ') || name}`;
      const known = byNodes.get(key);
      if (known) known.names.push(name);
      else byNodes.set(key, { id: `${kind}=${name}`, names: [name], nodes });
    }
  }
  const all = [...byNodes.values()];
  const isSeveral = ({ nodes }: { readonly nodes: readonly string[] }, index: number): boolean =>
    all.some((other, at) => at !== index && other.nodes.length > 0 && other.nodes.length < nodes.length && other.nodes.every((node) => nodes.includes(node)));
  return all.filter((device, index) => !device.names.includes('all') && !isSeveral(device, index)).map(({ id, names }) => ({ via: 'cdi' as const, id, names }));
}

interface Specification {
  readonly kind: string;
  readonly devices: readonly { readonly name: string; readonly containerEdits?: { readonly deviceNodes?: readonly { readonly path?: string }[] } }[];
}

/** YAML, of which JSON is a part. What is no specification of GPUs has none. */
function specification(text: string): Specification {
  try {
    const { kind, devices } = parse(text) as Partial<Specification>;
    if (typeof kind === 'string' && /^[\w.-]+\/gpu$/.test(kind) && Array.isArray(devices)) {
      return { kind, devices: (devices as Specification['devices']).map((device) => ({ ...device, name: String(device.name) })) };
    }
  } catch {
    // An engine leaves out what it cannot read, too.
  }
  return { kind: '', devices: [] };
}

async function specifications(folders: readonly string[]): Promise<string[]> {
  const files = await Promise.all(folders.map(async (folder) => (await readdir(folder).catch(() => [])).filter((name) => /\.(ya?ml|json)$/.test(name)).sort().map((name) => join(folder, name))));
  return Promise.all(files.flat().map((file) => readFile(file, 'utf8').catch(() => '')));
}

/** `{"card0": {"Card Series": "...", "Unique ID": "0x..."}}`; names of fields differ in case between versions. */
function parseRocm(json: string): GpuDevice[] {
  let cards: unknown;
  try {
    cards = JSON.parse(json);
  } catch {
    return [];
  }
  if (typeof cards !== 'object' || cards === null) return [];
  return Object.entries(cards as Record<string, unknown>).flatMap(([card, about]) => {
    const index = /^card(\d+)$/.exec(card)?.[1];
    if (index === undefined || typeof about !== 'object' || about === null) return [];
    const field = (name: RegExp): string | undefined => Object.entries(about).find(([key, value]) => name.test(key) && typeof value === 'string')?.[1] as string | undefined;
    const unique = field(/^unique id$/i);
    return [{ via: 'rocm' as const, id: card, names: [index, card, ...(unique === undefined ? [] : [unique])], model: field(/^card series$/i) ?? field(/^card model$/i) }];
  });
}

const renderNodes = async (folder: string): Promise<string[]> => (await readdir(folder).catch(() => [])).filter((name) => /^renderD\d+$/.test(name)).map((name) => `/dev/dri/${name}`);
