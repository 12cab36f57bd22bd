/** Every sandbox of a folder, whoever made it, and the ends of many. */
import { isOwnerAlive } from '../../sandbox/owner.js';
import type { SandboxInfo } from '../../sandbox/provider.js';
import { PROVIDERS } from '../../sandbox/registry.js';
import { isBilled } from '../billing.js';
import type { Engine } from '../engine.js';
import type { SandboxReport, TerminateReport } from '../sandboxReports.js';

const LIST_TIMEOUT_MS = 10_000;
const TERMINATE_TIMEOUT_MS = 60_000;

/** On every provider that answers. `measure` asks those that this engine holds for what they use. */
export async function listSandboxes(engine: Engine, measure = false): Promise<SandboxReport[]> {
  // Without a check, which would make a sandbox: this is asked again and again.
  const lists = await Promise.all(PROVIDERS.map(({ id }) => engine.providers.get(id).then((provider) => provider.list({ timeoutMs: LIST_TIMEOUT_MS })).catch(() => [])));
  const internal = new Set([...engine.held.list().map(({ readerId }) => readerId), ...engine.looks.ids()]);
  const alive = new Map<string, Promise<boolean>>();
  const isAlive = (owner: string): Promise<boolean> => {
    if (!alive.has(owner)) alive.set(owner, isOwnerAlive(owner));
    return alive.get(owner)!;
  };
  const now = Date.now();
  return Promise.all(
    lists.flat().filter(({ id }) => !internal.has(id)).map(async (info): Promise<SandboxReport> => {
      const held = engine.held.find(info.id);
      const billed = isBilled(info.provider);
      if (held) return { ...(await held.report(measure)), billed };
      const orphan = !(await isAlive(info.labels.owner));
      return { ...info, origin: 'other', billed, attached: false, orphan, ageMs: Math.max(0, now - info.createdAt), forwards: [], services: [] };
    }),
  );
}

/** Ends those of dead processes. */
export const terminateOrphans = async (engine: Engine): Promise<TerminateReport> => terminateThose(engine, (await listSandboxes(engine)).filter(({ orphan }) => orphan));

/** Ends all that this engine holds, and the orphans. Episodes and builds under way go on. */
export async function terminateAll(engine: Engine): Promise<TerminateReport> {
  return terminateThose(engine, (await listSandboxes(engine)).filter(({ attached, orphan }) => attached || orphan));
}

async function terminateThose(engine: Engine, sandboxes: readonly SandboxInfo[]): Promise<TerminateReport> {
  const failed: TerminateReport['failed'][number][] = [];
  await Promise.all(
    sandboxes.map(async ({ id, provider }) => {
      await terminateSandbox(engine, provider, id).catch((error: Error) => failed.push({ id, provider, message: error.message }));
    }),
  );
  return { ended: sandboxes.length - failed.length, failed };
}

/** "Already gone" is a success. */
export async function terminateSandbox(engine: Engine, provider: string, id: string): Promise<void> {
  await engine.held.find(id)?.terminate();
  await (await engine.providers.get(provider)).terminate(id, { timeoutMs: TERMINATE_TIMEOUT_MS });
}
