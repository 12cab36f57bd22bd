/** Asks for another episode of the same run. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Runner } from './runner.js';
import type { EpisodeRef } from './views/node.js';

/** More than these are not listed; a filter chooses among all. */
const SHOWN = 500;

/** Other samples of its seed come first, then the best: those are what an episode is compared with. `filter`: as in the table of episodes. */
export async function pickOtherEpisode(runner: Runner, { root, id, episode }: EpisodeRef): Promise<EpisodeRef | undefined> {
  const rows = async (filter: string) => (await runner.request('run/rows', { root, id, query: { filter, sort: 'reward', descending: true, start: 0, count: SHOWN } })).rows;
  const [own] = await rows(`episode:${episode}`);
  const ofSeed = own ? await rows(`seed:${own.seed}`) : [];
  const all = new Map([...ofSeed, ...(await rows(''))].map((row) => [row.episode, row]));
  all.delete(episode);
  const items = [...all.values()].map((row) => ({
    label: l10n.t('Episode {0}', row.episode),
    description: l10n.t('seed {0}, sample {1}, {2}', row.seed, row.sample, row.reward === null ? l10n.t('no reward') : l10n.t('reward {0}', row.reward)),
    episode: row.episode,
  }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Compare with which episode?'), matchOnDescription: true });
  return chosen && { root, id, episode: chosen.episode };
}
