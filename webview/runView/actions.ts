import * as l10n from '@vscode/l10n';
import type { RunSnapshot, RunViewRequests } from '../../src/protocol/runView.js';

/** `export` has a request of its own, with what is selected. */
export type ActionName = RunViewRequests['action']['params']['action'] | 'export';

export interface Action {
  readonly name: ActionName;
  readonly icon: string;
  readonly label: string;
  readonly tooltip: string;
  /** Why it cannot be done now. */
  readonly disabled?: string;
}

/** What can be done with a run in this state, in the order of the toolbar. */
export function actionsFor({ run, finished, stats }: RunSnapshot, trusted: boolean, pending: ReadonlySet<ActionName>): Action[] {
  const active = run.state === 'building' || run.state === 'running';
  const missing = run.total - finished;
  const untrusted = trusted ? undefined : l10n.t('This workspace is not trusted, so nothing runs.');
  const offered: (Action | false)[] = [
    active && {
      name: 'cancel',
      icon: 'debug-stop',
      label: pending.has('cancel') ? l10n.t('Cancelling…') : l10n.t('Cancel'),
      tooltip: l10n.t('Stop the run and end its sandboxes. What has finished is kept.'),
    },
    !active && missing > 0 && run.state !== 'done' && {
      name: 'resume',
      icon: 'debug-continue',
      label: l10n.t('Resume'),
      tooltip: missing === 1 ? l10n.t('Run the one episode that is missing.') : l10n.t('Run the {0} episodes that are missing.', missing),
      disabled: untrusted,
    },
    !active && stats.unscored > 0 && {
      name: 'rerunFailed',
      icon: 'debug-restart-frame',
      label: l10n.t('Rerun Failed'),
      tooltip: stats.unscored === 1 ? l10n.t('Start a run over the one episode without a reward.') : l10n.t('Start a run over the {0} episodes without a reward.', stats.unscored),
      disabled: untrusted,
    },
    !active && { name: 'rerun', icon: 'debug-restart', label: l10n.t('Rerun'), tooltip: l10n.t('Start another run with the same seeds.'), disabled: untrusted },
    { name: 'compare', icon: 'compare-changes', label: l10n.t('Compare'), tooltip: l10n.t('Compare the run with another one, seed by seed.') },
    {
      name: 'export',
      icon: 'export',
      label: l10n.t('Export'),
      tooltip: l10n.t('Save the episodes that are selected, or in the table: records, traces, chat messages.'),
      disabled: finished === 0 ? l10n.t('No episode has finished.') : undefined,
    },
    { name: 'openTemplate', icon: 'go-to-file', label: l10n.t('Open Template'), tooltip: run.file },
    { name: 'reveal', icon: 'folder-opened', label: l10n.t('Reveal'), tooltip: l10n.t('Show the folder of the run.') },
  ];
  return offered
    .filter((action) => action !== false)
    .map((action) => (pending.has(action.name) ? { ...action, disabled: action.disabled ?? l10n.t('In progress.') } : action));
}
