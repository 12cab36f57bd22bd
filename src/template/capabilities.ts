/** Where a template asks for what a provider cannot do, or for one that there is not: the engine refuses with it before it creates anything, and the editor underlines. */
import type { ParsedTemplate } from './parse.js';
import { isRootFolder } from './paths.js';
import { nearest } from './suggest.js';
import type { Problem, Template } from './template.js';
import { formatPath, orList, quoteName, quoteValue, type DocumentPath } from './text.js';

/** What is asked of a provider; the sandbox room's `Provider` is one. */
export interface CapableProvider {
  readonly id: string;
  /** Not on this machine: taken only where it is named. */
  readonly remote?: true;
  readonly capabilities: {
    readonly gpu: boolean;
    readonly network: readonly ('none' | 'full' | 'allow')[];
    readonly isolation: readonly ('default' | 'gvisor')[];
    readonly user: boolean;
    readonly readOnly: boolean;
    readonly image: boolean;
    readonly rootFolder: boolean;
    readonly dockerfile: boolean;
    readonly aptPackages: boolean;
    readonly maxSessionSeconds?: number;
  };
}

/**
 * What the provider that the template names cannot do, or `otherwise` if it names none; with no provider named at all, what none of this machine
 * can. `providers`: all that there are.
 */
export function providerProblems(parsed: ParsedTemplate, providers: readonly CapableProvider[], otherwise?: string): Problem[] {
  const named = [parsed.provider, otherwise].find((id) => id !== undefined && id !== 'auto');
  if (named === undefined) {
    const found = providers.filter(({ remote }) => !remote).map((provider) => capabilityProblems(parsed, provider));
    return found.every((problems) => problems.length > 0) ? (found[0] ?? []) : [];
  }
  const provider = providers.find(({ id }) => id === named);
  if (provider) return capabilityProblems(parsed, provider);
  if (named !== parsed.provider || parsed.problems.some(({ path }) => path === 'provider')) return [];
  const ids = ['auto', ...providers.map(({ id }) => id)];
  const meant = nearest(named, ids);
  const message = `there is no provider ${quoteName(named)}: ${meant ? `did you mean ${quoteName(meant)}?` : `expected ${orList(ids.map(quoteValue))}`}`;
  return [{ file: parsed.file, ...parsed.locate('provider'), severity: 'error', message, path: 'provider' }];
}

type Report = (path: DocumentPath, message: string) => void;
interface SandboxWish {
  readonly image?: string;
  readonly dockerfile?: unknown;
  readonly resources?: { readonly gpu?: unknown };
}

/** Problems in the order of the text; none if the template has errors of its own. */
export function capabilityProblems(parsed: ParsedTemplate, provider: CapableProvider): Problem[] {
  const { template } = parsed;
  if (!template) return [];
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    const full = formatPath(path);
    // A short form stands for several values, none of which is written by itself.
    const where = parsed.has(full) ? full : formatPath(path.slice(0, -1));
    problems.push({ file: parsed.file, ...parsed.locate(where), severity: 'error', message, path: where });
  };
  checkSandbox({ ...template.base, resources: template.resources }, [], provider, report);
  template.reward.forEach((component, index) => {
    if (component.type === 'sandbox') checkSandbox(component, parsed.has('reward[0]') ? ['reward', index] : ['reward'], provider, report);
  });
  checkRest(template, provider, report);
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

function checkSandbox(wish: SandboxWish, at: DocumentPath, { id, capabilities }: CapableProvider, report: Report): void {
  const can = orList([...(capabilities.image ? ['a container image'] : []), ...(capabilities.rootFolder ? ['a root folder (`./path`)'] : []), ...(capabilities.dockerfile ? ['a Dockerfile'] : []), 'its own default root']);
  const starts = `it starts from ${can}`;
  const name = quoteName(id);
  if (wish.image !== undefined) {
    const folder = isRootFolder(wish.image) || wish.image.includes('\\');
    if (folder && !capabilities.rootFolder) report([...at, 'image'], `the provider ${name} cannot start from a root folder: ${starts}`);
    if (!folder && !capabilities.image) report([...at, 'image'], `the provider ${name} cannot start from a container image: ${starts}`);
  }
  if (wish.dockerfile !== undefined && !capabilities.dockerfile) report([...at, 'dockerfile'], `the provider ${name} cannot build a Dockerfile: ${starts}`);
  if (wish.resources?.gpu !== undefined && !capabilities.gpu) report([...at, 'resources', 'gpu'], `the provider ${name} has no GPUs: its sandboxes run on the CPU only`);
}

function checkRest(template: Template, { id, capabilities }: CapableProvider, report: Report): void {
  const name = quoteName(id);
  if (template.packages.apt.length > 0 && !capabilities.aptPackages) {
    report(['packages', 'apt'], `the provider ${name} cannot install Debian packages: it takes what its base holds, and Python packages`);
  }
  for (const when of ['setup', 'episode'] as const) {
    const asked = template.network[when];
    const policy = typeof asked === 'string' ? asked : 'allow';
    const can = orList(capabilities.network.map(quoteValue));
    if (!capabilities.network.includes(policy)) report(['network', when], `the provider ${name} has no network policy ${quoteValue(policy)} for ${when === 'setup' ? 'setup' : 'episodes'}: it has ${can}`);
  }
  if (!capabilities.isolation.includes(template.isolation)) report(['isolation'], `the provider ${name} has no isolation ${quoteValue(template.isolation)}: it has ${orList(capabilities.isolation.map(quoteValue))}`);
  if (template.user !== undefined && !capabilities.user) report(['user'], `the provider ${name} cannot run an episode as another user`);
  if (template.writable !== undefined && !capabilities.readOnly) report(['read_only'], `the provider ${name} has no read-only root`);
  const most = capabilities.maxSessionSeconds;
  if (most !== undefined && template.episode.timeoutMs > most * 1000) {
    report(['episode', 'timeout'], `a sandbox of the provider ${name} lives ${most} s at most, and an episode here may take ${template.episode.timeoutMs / 1000} s`);
  }
}
