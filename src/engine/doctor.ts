/** What is there, what is missing and what to do about it. */
import { PROVIDERS } from '../sandbox/registry.js';
import { relevant } from './caller.js';
import type { Engine } from './engine.js';
import { Providers } from './providers.js';
import type { DoctorReport, ProviderReport } from './reports.js';
import { VERSION } from './version.js';

/** One provider, with the caller's variables or with others, which are forgotten again. */
export async function checkProvider(engine: Engine, provider: string, environment?: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<ProviderReport> {
  const entry = PROVIDERS.find(({ id }) => id === provider);
  if (!entry) throw new Error(`there is no provider "${provider}"`);
  const providers = environment ? new Providers(engine.layout, relevant(environment), () => undefined) : engine.providers;
  try {
    return { id: entry.id, title: entry.title, ...(await providers.check(entry.id, signal)) };
  } finally {
    if (environment) await providers.close();
  }
}

/** `preferred` is the setting's provider, if it is not `auto`. */
export async function doctor(engine: Engine, preferred?: string, signal?: AbortSignal): Promise<DoctorReport> {
  const providers = await Promise.all(PROVIDERS.map(async ({ id, title }) => ({ id, title, ...(await engine.providers.check(id, signal)) })));
  const named = preferred && preferred !== 'auto' ? providers.find((provider) => provider.id === preferred) : undefined;
  const chosen = named ?? providers.find((provider) => provider.ok);
  const passedOver = providers.slice(0, chosen ? providers.indexOf(chosen) : 0).map((provider) => provider.title);
  const why = named ? 'it is the one that was asked for' : passedOver.length ? `it is the first that answers; ${passedOver.join(' and ')} cannot be used` : 'it starts fastest and needs no daemon';
  return {
    version: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...(chosen?.ok && { chosen: { id: chosen.id, why } }),
    providers,
  };
}
