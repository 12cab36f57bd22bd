import * as l10n from '@vscode/l10n';
import type { EpisodeRow, SortKey } from '../../../src/protocol/runView.js';
import * as format from '../../format.js';
import { oneLine } from '../../text.js';
import { statusWord } from '../words.js';

export interface Column {
  readonly key: SortKey;
  readonly title: string;
  /** Longer, for the tooltip. */
  readonly description: string;
  readonly numeric: boolean;
  /** What the cell says; from a sandbox in parts, so without escapes. */
  text(record: EpisodeRow): string;
  /** Codicon before the text and its tone. */
  icon?(record: EpisodeRow): { readonly icon: string; readonly tone: string };
}

/** The columns of the table. `decimals` is for the rewards. */
export function columnsFor(samples: number, decimals: number): Column[] {
  const number = (key: SortKey, title: string, description: string, text: (record: EpisodeRow) => string): Column => ({ key, title, description, numeric: true, text });
  return [
    number('episode', '#', l10n.t('Episode'), (record) => String(record.episode)),
    number('seed', l10n.t('seed'), l10n.t('Seed'), (record) => String(record.seed)),
    ...(samples > 1 ? [number('sample', l10n.t('sample'), l10n.t('Sample of the seed'), (record) => String(record.sample))] : []),
    {
      key: 'status',
      title: l10n.t('status'),
      description: l10n.t('Status'),
      numeric: false,
      text: (record) => statusWord(record.status).text,
      icon: (record) => statusWord(record.status),
    },
    number('reward', l10n.t('reward'), l10n.t('Reward'), (record) => format.reward(record.reward, decimals)),
    ...(samples > 1 ? [number('advantage', l10n.t('advantage'), l10n.t('Advantage within the group of its seed, as GRPO computes it: (reward - mean) / (std + 0.0001)'), (record) => format.signed(record.advantage ?? null))] : []),
    number('steps', l10n.t('steps'), l10n.t('Steps'), (record) => format.integer(record.steps)),
    number('time', l10n.t('time (ms)'), l10n.t('Time from the start of the first attempt to the end of the last, in ms'), (record) => format.integer(record.timings.total)),
    { key: 'cause', title: l10n.t('cause'), description: l10n.t('Why it is not completed, or has no reward'), numeric: false, text: (record) => (record.cause === undefined ? '' : oneLine(record.cause, 300)) },
  ];
}
