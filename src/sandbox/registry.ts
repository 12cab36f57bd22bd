/** All providers, best first: one line each. A provider's code, and its SDK with it, is loaded when it is first opened. */
import type { AccountForm } from './account.js';
import { beamAccountForm } from './beam/accountForm.js';
import { beamCapabilities } from './beam/capabilities.js';
import { bubblewrapCapabilities } from './bubblewrap/capabilities.js';
import { dockerCapabilities } from './docker/capabilities.js';
import { e2bAccountForm } from './e2b/accountForm.js';
import { e2bCapabilities } from './e2b/capabilities.js';
import { podmanCapabilities } from './podman/capabilities.js';
import { ProviderUnavailable } from './errors.js';
import type { Capabilities, Provider, ProviderContext } from './provider.js';

export interface ProviderEntry {
  readonly id: string;
  readonly title: string;
  readonly capabilities: Capabilities;
  /** On machines of somebody else, who is paid for them: taken only where it is named. */
  readonly remote?: true;
  /** How an account there is named. */
  readonly account?: AccountForm;
  readonly load: () => Promise<{ readonly createProvider: (context: ProviderContext) => Provider }>;
}

export const PROVIDERS: readonly ProviderEntry[] = [
  { id: 'bubblewrap', title: 'bubblewrap', capabilities: bubblewrapCapabilities, load: () => import('./bubblewrap/index.js') },
  { id: 'docker', title: 'Docker', capabilities: dockerCapabilities, load: () => import('./docker/index.js') },
  { id: 'podman', title: 'Podman', capabilities: podmanCapabilities, load: () => import('./podman/index.js') },
  { id: 'e2b', title: 'E2B', capabilities: e2bCapabilities, remote: true, account: e2bAccountForm, load: () => import('./e2b/index.js') },
  { id: 'beam', title: 'Beam', capabilities: beamCapabilities, remote: true, account: beamAccountForm, load: () => import('./beam/index.js') },
];

/** @throws ProviderUnavailable if there is no provider of that name. Whether it answers is what `check()` says. */
export async function openProvider(id: string, context: ProviderContext): Promise<Provider> {
  const entry = PROVIDERS.find((each) => each.id === id);
  if (!entry) throw new ProviderUnavailable(`there is no provider "${id}"`, `the providers are ${PROVIDERS.map((each) => each.id).join(', ')}`);
  const { createProvider } = await entry.load();
  return createProvider(context);
}
