/** How long a sandbox stays; said again before it ends. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Disposable } from '../../dispose.js';
import { formatDuration } from '../../format.js';
import { Commands } from '../../ids.js';
import { tellQuietly } from '../../quiet.js';
import { roots } from '../../roots.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { nameOf, sandboxTarget } from './targets.js';

const MINUTE = 60_000;
const UNTIL_TERMINATED = -1;
const CHOICES = [5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 4 * 60 * MINUTE, 24 * 60 * MINUTE];
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE, min: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };
const LONGEST_MS = 30 * 24 * 60 * MINUTE;

interface Keeping {
  readonly ref: SandboxRef;
  readonly keepMs: number;
}

/** `90s`, `20m`, `1.5h`, or seconds without a unit. Undefined if it is none of these. */
function parseKeep(text: string): number | undefined {
  const [, figure, unit] = /^(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?$/.exec(text.trim()) ?? [];
  const ms = figure === undefined ? undefined : Number(figure) * UNITS[unit ?? 's']!;
  return ms !== undefined && ms >= 1000 && ms <= LONGEST_MS ? ms : undefined;
}

export function registerKeepCommand(services: Services): Disposable {
  const { commander, runner } = services;
  commander.register(Commands.keepSandbox, {
    target: async (argument): Promise<Keeping | undefined> => {
      const ref = await sandboxTarget(services, argument);
      const keepMs = ref && (await askHowLong(nameOf(services, ref)));
      return keepMs === undefined ? undefined : { ref: ref!, keepMs };
    },
    needsTrust: true,
    failed: (why, keeping) => l10n.t('Failed to keep {0}: {1}', nameOf(services, keeping?.ref), why),
    run: (keeping) => keep(services, keeping),
  });
  const told = new Set<string>();
  return runner.on('sandbox/expiring', ({ root, id, provider, remainingMs }) => {
    if (!roots().some(({ path }) => path === root) || told.has(id)) return;
    told.add(id);
    offer(services, { root, id, provider }, remainingMs)
      .catch((error: unknown) => commander.report(error, (why) => l10n.t('Failed to keep {0}: {1}', id, why)))
      .finally(() => told.delete(id));
  });
}

async function askHowLong(name: string): Promise<number | undefined> {
  const other = l10n.t('Another length…');
  const items = [
    ...CHOICES.map((keepMs) => ({ label: formatDuration(keepMs), keepMs })),
    { label: l10n.t('Until it is terminated'), keepMs: UNTIL_TERMINATED },
    { label: other, keepMs: undefined },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: l10n.t('Keep {0} Warm', name), placeHolder: l10n.t('For how long, from now?') });
  if (picked?.label !== other) return picked?.keepMs;
  const text = await vscode.window.showInputBox({
    title: l10n.t('Keep {0} Warm', name),
    prompt: l10n.t('Seconds, or a length such as 90s, 20m, 1.5h'),
    validateInput: (value) => (parseKeep(value) === undefined ? l10n.t('Expected a length from 1 second to 30 days, such as 90s, 20m or 1.5h.') : undefined),
  });
  return text === undefined ? undefined : parseKeep(text);
}

async function keep(services: Services, { ref, keepMs }: Keeping): Promise<void> {
  const report = await services.runner.request('sandbox/extend', { root: ref.root, id: ref.id, keepMs });
  services.sandboxes.took(ref.root, report);
  const name = nameOf(services, ref);
  tellQuietly(keepMs === UNTIL_TERMINATED ? l10n.t('{0} stays until it is terminated', name) : l10n.t('{0} stays for {1}', name, formatDuration(keepMs)));
}

async function offer(services: Services, ref: SandboxRef, remainingMs: number): Promise<void> {
  const hour = l10n.t('Extend by an Hour');
  const always = l10n.t('Keep Until Terminated');
  const chosen = await vscode.window.showWarningMessage(l10n.t('Sandbox {0} expires in {1}.', nameOf(services, ref), formatDuration(remainingMs)), hour, always);
  if (chosen) await keep(services, { ref, keepMs: chosen === always ? UNTIL_TERMINATED : 60 * MINUTE });
}
