/** Ports on which something in a sandbox listens: led to this machine, and opened. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import { Commands } from '../../ids.js';
import { tellQuietly } from '../../quiet.js';
import type { Services } from '../../services.js';
import type { PortRef } from '../../views/node.js';
import { portOf, sandboxTarget } from './targets.js';

export function registerPortCommands(services: Services): void {
  const { commander, runner, sandboxes } = services;
  const target = (argument: unknown) => portOf(argument) ?? pickPort(services, argument);
  commander.register(Commands.openPort, {
    target,
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to open port {0}: {1}', ref?.port ?? '', why),
    run: async (ref) => vscode.env.openExternal(await addressOf(services, ref)),
  });
  commander.register(Commands.forwardPort, {
    target,
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to forward port {0}: {1}', ref?.port ?? '', why),
    run: async (ref) => {
      const { localPort } = await forward(services, ref);
      tellQuietly(l10n.t('Port {0} of the sandbox is port {1} of this machine', ref.port, localPort));
      return localPort;
    },
  });
  commander.register(Commands.copyPortAddress, {
    target,
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to copy the address of port {0}: {1}', ref?.port ?? '', why),
    run: async (ref) => vscode.env.clipboard.writeText((await addressOf(services, ref)).toString()),
  });
  commander.register(Commands.stopForwarding, {
    target,
    needsTrust: true,
    failed: (why, ref) => l10n.t('Failed to stop forwarding port {0}: {1}', ref?.port ?? '', why),
    run: async ({ root, id, port }) => {
      await runner.request('sandbox/unforward', { root, id, port });
      sandboxes.invalidate();
    },
  });
}

async function pickPort(services: Services, argument: unknown): Promise<PortRef | undefined> {
  const ref = await sandboxTarget(services, argument);
  if (!ref) return undefined;
  const { ports } = await services.runner.request('sandbox/ports', { root: ref.root, id: ref.id });
  if (ports.length === 0) throw new Failure(l10n.t('nothing in the sandbox listens'));
  if (ports.length === 1) return { ...ref, port: ports[0]!.port };
  const items = ports.map(({ port, address }) => ({ label: String(port), description: address, port }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which port?') });
  return picked && { ...ref, port: picked.port };
}

async function forward({ runner, sandboxes }: Services, { root, id, port }: PortRef) {
  const forwarded = await runner.request('sandbox/forward', { root, id, port });
  sandboxes.invalidate();
  return forwarded;
}

/** As whoever sits before the window can reach it, where that is another machine too. */
async function addressOf(services: Services, ref: PortRef): Promise<vscode.Uri> {
  const { localPort } = await forward(services, ref);
  return vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${localPort}/`));
}
