import type { AccountForm } from '../account.js';

export const e2bAccountForm: AccountForm = {
  key: 'E2B_API_KEY',
  keyName: 'API key',
  keysAt: 'https://e2b.dev/dashboard?tab=keys',
  service: 'e2b.app',
  domain: 'E2B_DOMAIN',
  urls: ['E2B_API_URL', 'E2B_SANDBOX_URL'],
  limits: ['RL_SANDBOXES_E2B_CONCURRENT', 'RL_SANDBOXES_E2B_CREATIONS_PER_SECOND'],
};
