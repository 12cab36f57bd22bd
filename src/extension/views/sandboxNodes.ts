/** Live sandboxes as tree items. */
import * as l10n from '@vscode/l10n';
import type { SandboxInfo } from '../../sandbox/provider.js';
import { formatAgo, formatDuration, oneLine } from '../format.js';
import { Items } from '../ids.js';
import type { Node } from './node.js';

/** A sandbox that will end by itself within this time says so in its description. */
const EXPIRY_NOTICE_MS = 15 * 60_000;

export function sandboxNode(root: string, sandbox: SandboxInfo, now: number): Node {
  const { labels } = sandbox;
  const name = oneLine([labels.template ?? sandbox.provider, sandbox.id.slice(-6)].join('-'), 80);
  const left = labels.expires - now;
  const age = formatDuration(Math.max(0, now - sandbox.createdAt));
  const expiry = left < EXPIRY_NOTICE_MS ? (left > 0 ? l10n.t('ends in {0}', formatDuration(left)) : l10n.t('overdue')) : undefined;
  const episode = labels.episode === undefined ? undefined : l10n.t('episode {0}', labels.episode);
  const description = [sandbox.provider, age, episode, expiry].filter(Boolean).join('  ·  ');
  return {
    id: `sandbox:${sandbox.provider}:${sandbox.id}`,
    label: name,
    description,
    spoken: l10n.t('Sandbox {0}, {1}', name, description),
    tooltip: () =>
      [
        l10n.t('{0} on {1}, {2}', sandbox.id, sandbox.provider, sandbox.state),
        ...(labels.run ? [l10n.t('run {0}', oneLine(labels.run))] : []),
        l10n.t('started {0}', formatAgo(sandbox.createdAt, now)),
        left > 0 ? l10n.t('ends by itself in {0}', formatDuration(left)) : l10n.t('should have ended by now'),
      ].join('\n'),
    icon: sandbox.state === 'running' ? { id: 'vm-running' } : sandbox.state === 'starting' ? { id: 'loading~spin' } : { id: 'vm-outline' },
    item: Items.sandbox,
    sandbox: { root, id: sandbox.id, provider: sandbox.provider },
  };
}
