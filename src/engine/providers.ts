/** Opens providers once each, and picks the one that a template gets. */
import { requireGpus } from '../rollout/gpus.js';
import { LimitExceeded, ProviderUnavailable } from '../sandbox/errors.js';
import type { Health, Provider } from '../sandbox/provider.js';
import { PROVIDERS, openProvider } from '../sandbox/registry.js';
import type { Layout } from '../store/layout.js';
import { capabilityProblems, providerProblems } from '../template/capabilities.js';
import type { ParsedTemplate } from '../template/parse.js';
import { TemplateError, type Template } from '../template/template.js';

const CHECK_TIMEOUT_MS = 10_000;

export interface Choice {
  readonly provider: Provider;
  readonly health: Health;
  readonly why: string;
}

export class Providers {
  private readonly opened = new Map<string, Promise<Provider>>();

  constructor(
    private readonly layout: Layout,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly log: (message: string) => void,
  ) {}

  get(id: string): Promise<Provider> {
    let provider = this.opened.get(id);
    if (!provider) {
      provider = openProvider(id, { stateDir: this.layout.providerState(id), environment: this.environment, log: this.log });
      provider.catch(() => this.opened.delete(id));
      this.opened.set(id, provider);
    }
    return provider;
  }

  async check(id: string, signal?: AbortSignal): Promise<Health> {
    const provider = await this.get(id);
    return provider.check({ signal, timeoutMs: CHECK_TIMEOUT_MS });
  }

  /**
   * The provider that was asked for, else the template's own, else the best that answers and can do what the template asks.
   * Rejects with `TemplateError` where the template asks for what the provider cannot do, and with `ProviderUnavailable`.
   */
  async choose(template: Template, parsed: ParsedTemplate | undefined, requested?: string, signal?: AbortSignal): Promise<Choice> {
    const named = [requested, template.provider].find((id) => id !== undefined && id !== 'auto');
    if (named !== undefined) {
      const entry = PROVIDERS.find((each) => each.id === named);
      if (!entry && parsed && named === template.provider) throw new TemplateError(providerProblems(parsed, PROVIDERS));
      if (!entry) throw new ProviderUnavailable(`there is no provider "${named}"`, `the providers are ${PROVIDERS.map((each) => each.id).join(', ')}`);
      requireAble(parsed, named);
      const health = await this.check(named, signal);
      if (!health.ok) throw new ProviderUnavailable(`${entry.title} cannot be used: ${health.summary}`, health.hint ?? 'run `rl-sandboxes doctor`', { problem: health.code });
      const provider = await this.get(named);
      const lack = await lackOf(template, provider, health, signal);
      if (lack !== undefined) throw new ProviderUnavailable(`${entry.title} cannot be used: ${lack}`, 'ask for less in the template, or use another provider');
      return { provider, health, why: named === requested ? 'it was asked for' : 'the template names it' };
    }
    return this.best(template, parsed, signal);
  }

  private async best(template: Template, parsed: ParsedTemplate | undefined, signal?: AbortSignal): Promise<Choice> {
    const able = PROVIDERS.filter((entry) => !entry.remote && problemsOf(parsed, entry).length === 0);
    if (able.length === 0) throw new TemplateError(problemsOf(parsed, PROVIDERS[0]!));
    // A container image is at home in a container engine; everything else starts fastest without one.
    const container = template.base.dockerfile !== undefined || (template.base.image !== undefined && !template.base.image.startsWith('/'));
    const ranked = container ? [...able].sort((a, b) => Number(b.capabilities.dockerfile) - Number(a.capabilities.dockerfile)) : able;
    const refusals: string[] = [];
    for (const entry of ranked) {
      const health = await this.check(entry.id, signal);
      const why = refusals.length ? `the first that answers (${refusals.join('; ')})` : container ? 'the template has a container image' : 'it starts fastest and needs no daemon';
      const provider = await this.get(entry.id);
      const lack = health.ok ? await lackOf(template, provider, health, signal) : undefined;
      if (health.ok && lack === undefined) return { provider, health, why };
      refusals.push(`${entry.title}: ${lack ?? health.summary}${health.hint ? `; ${health.hint}` : ''}`);
    }
    throw new ProviderUnavailable(`no provider answers: ${refusals.join('. ')}`, 'run `rl-sandboxes doctor` to see what each needs');
  }

  /** All that can be used now. */
  async answering(signal?: AbortSignal): Promise<Provider[]> {
    const checked = await Promise.all(PROVIDERS.map(async ({ id }) => ((await this.check(id, signal)).ok ? [await this.get(id)] : [])));
    return checked.flat();
  }

  async close(): Promise<void> {
    const settled = await Promise.allSettled(this.opened.values());
    this.opened.clear();
    for (const result of settled) if (result.status === 'fulfilled') await result.value.close();
  }
}

/** What the template asks for and this machine has not, in one line; undefined if nothing. */
async function lackOf({ isolation, resources }: Template, provider: Provider, health: Health, signal: AbortSignal | undefined): Promise<string | undefined> {
  const lack = health.lacks?.[isolation];
  if (lack !== undefined) return `isolation ${isolation} was asked for, and ${lack}`;
  return requireGpus([{ provider, resources }], signal).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof LimitExceeded) return error.message;
      throw error;
    },
  );
}

/** @throws TemplateError where the template asks for what this provider cannot do, before anything is asked of it */
export function requireAble(parsed: ParsedTemplate | undefined, provider: string): void {
  const entry = PROVIDERS.find(({ id }) => id === provider);
  const problems = entry ? problemsOf(parsed, entry) : [];
  if (problems.length) throw new TemplateError(problems);
}

/** A scoring sandbox has no file of its own: what it cannot do is found when it is built. */
const problemsOf = (parsed: ParsedTemplate | undefined, entry: (typeof PROVIDERS)[number]) => (parsed ? capabilityProblems(parsed, entry) : []);
