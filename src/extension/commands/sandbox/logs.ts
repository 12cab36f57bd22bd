/** What the services of a sandbox write, in an output channel that goes on while it is looked at. */
import * as l10n from '@vscode/l10n';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Disposable } from '../../dispose.js';
import { Failure, reason } from '../../failure.js';
import { Commands } from '../../ids.js';
import { isShown } from '../../sandbox/channels.js';
import { PlainText } from '../../sandbox/plainText.js';
import type { Services } from '../../services.js';
import type { ServiceRef } from '../../views/node.js';
import { nameOf, sandboxTarget, serviceOf } from './targets.js';

const POLL_MS = 1000;

export function registerLogCommand(services: Services): Disposable {
  const followed = new Map<string, ServiceLog>();
  services.commander.register(Commands.showSandboxLogs, {
    target: (argument) => serviceOf(argument) ?? pickService(services, argument),
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to show the logs of {0}: {1}', ref?.service ?? l10n.t('the sandbox'), why),
    run: async (ref) => {
      const key = `${ref.provider} ${ref.id} ${ref.service}`;
      const log = followed.get(key) ?? new ServiceLog(services, ref);
      followed.set(key, log);
      await log.show();
    },
  });
  return vscode.window.onDidChangeVisibleTextEditors(() => followed.forEach((log) => log.seen()));
}

async function pickService(services: Services, argument: unknown): Promise<ServiceRef | undefined> {
  const ref = await sandboxTarget(services, argument);
  if (!ref) return undefined;
  const list = await services.runner.request('sandbox/services', { root: ref.root, id: ref.id });
  if (list.length === 0) throw new Failure(l10n.t('its template has no services, which are what writes logs'));
  if (list.length === 1) return { ...ref, service: list[0]!.name };
  const items = list.map(({ name, state }) => ({ label: name, description: state }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which service?') });
  return picked && { ...ref, service: picked.label };
}

class ServiceLog {
  private next = 0;
  private following = false;
  private over = false;
  private readonly text = new PlainText();
  private channel: vscode.OutputChannel | undefined;

  constructor(
    private readonly services: Services,
    private readonly ref: ServiceRef,
  ) {}

  /** Resolves when what was written so far is there. Rejects with `RunnerError`. */
  async show(): Promise<void> {
    this.channel = this.services.channels.get(`${nameOf(this.services, this.ref)} ${this.ref.service}`);
    this.channel.show(true);
    await this.read(this.channel);
    this.seen();
  }

  /** Goes on reading, if a person has it before them. */
  seen(): void {
    if (this.channel && !this.following && !this.over && isShown(this.channel)) void this.follow(this.channel);
  }

  private async read(channel: vscode.OutputChannel): Promise<void> {
    const { root, id, service } = this.ref;
    const { text, next, dropped } = await this.services.runner.request('sandbox/logs', { root, id, service, from: this.next });
    this.next = next;
    if (dropped > 0) channel.appendLine(`[${l10n.t('{0} bytes were not kept', dropped)}]`);
    if (text) channel.append(this.text.push(Buffer.from(text)));
  }

  private async follow(channel: vscode.OutputChannel): Promise<void> {
    this.following = true;
    try {
      for (; isShown(channel); await delay(POLL_MS)) await this.read(channel);
    } catch (error) {
      this.over = true;
      channel.appendLine(`\n[${reason(error)}]`);
    } finally {
      this.following = false;
    }
  }
}
