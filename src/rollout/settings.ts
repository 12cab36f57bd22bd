import type { SandboxSettings } from '../sandbox/provider.js';
import type { Template } from '../template/template.js';

/** What a template says of the sandboxes that are restored for it. */
export const settingsOf = ({ resources, env, network, isolation, user, writable }: Template, secrets: Readonly<Record<string, string>> = {}): SandboxSettings => ({
  ...{ resources, isolation, user, writable },
  env: { ...env, ...secrets },
  network: network.episode,
});
