import type { AccountForm } from '../account.js';

export const beamAccountForm: AccountForm = {
  key: 'BEAM_TOKEN',
  keyName: 'token',
  keysAt: 'https://platform.beam.cloud/settings/api-keys',
  service: 'app.beam.cloud',
  urls: ['BEAM_GATEWAY_URL'],
  limits: ['RL_SANDBOXES_BEAM_CONCURRENT', 'RL_SANDBOXES_BEAM_CREATIONS_PER_SECOND'],
};
