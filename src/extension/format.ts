/** Figures as people read them. Where there is no number there is an em dash, never a 0. */
import * as l10n from '@vscode/l10n';

const NONE = '—';
/** Controls, halves of surrogate pairs, and the characters that turn the direction of text round: each can make a line say something else than it does. */
const UNSAFE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}]+/gu;

/** Text from a sandbox as one short line without controls. */
export function oneLine(text: string, limit = 160): string {
  const line = text.replace(UNSAFE, ' ').trim();
  const points = [...line];
  return points.length > limit ? `${points.slice(0, limit - 1).join('')}…` : line;
}

/** Three decimals, four below 0.01, plain notation up to a million. */
export function formatReward(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return NONE;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  return value.toFixed(size < 0.01 ? 4 : 3);
}

/** `0.497 ± 0.013`, the mean and half the width of its 95 % interval. */
export const formatMean = (mean: number | null, ci95: number | null): string =>
  mean === null ? NONE : ci95 === null ? formatReward(mean) : `${formatReward(mean)} ± ${formatReward(ci95)}`;

/** `$0.12`; below a cent as many places as show something. */
export const formatDollars = (dollars: number): string => `$${dollars === 0 || dollars >= 0.01 ? dollars.toFixed(2) : dollars.toPrecision(2)}`;

/** `$0.12 of $1.00`, what a run has cost and may cost; undefined where nothing is billed. */
export function formatSpending({ cost, maxCost }: { readonly cost?: { readonly spent: number }; readonly maxCost?: number }): string | undefined {
  if (!cost) return undefined;
  return maxCost === undefined ? formatDollars(cost.spent) : l10n.t('{0} of {1}', formatDollars(cost.spent), formatDollars(maxCost));
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}

/** Length of time: `820 ms`, `41 s`, `12 min`, `3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return l10n.t('{0} ms', Math.round(ms));
  if (ms < 120_000) return l10n.t('{0} s', ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000));
  if (ms < 7_200_000) return l10n.t('{0} min', Math.round(ms / 60_000));
  if (ms < 172_800_000) return l10n.t('{0} h', Math.round(ms / 3_600_000));
  return l10n.t('{0} days', Math.round(ms / 86_400_000));
}

/** `2 min ago`, for what does not change every second. */
export const formatAgo = (then: number, now: number): string => (now - then < 60_000 ? l10n.t('just now') : l10n.t('{0} ago', formatDuration(now - then)));

export const formatRate = (perSecond: number | null): string => (perSecond === null ? NONE : `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`);
