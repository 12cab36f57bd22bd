/** Which sandbox a command acts on: the one of the item that was clicked, else the one that a person picks. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../../failure.js';
import { Commands, SandboxScheme } from '../../ids.js';
import { refOfSandbox, type KnownSandbox } from '../../sandboxes.js';
import { isAuthorityOf } from '../../sandbox/address.js';
import type { Services } from '../../services.js';
import type { FileRef, PortRef, SandboxRef, ServiceRef } from '../../views/node.js';
import { sandboxName, sandboxNode } from '../../views/sandboxNodes.js';
import { nodeOf } from '../targets.js';

const isText = (value: unknown): value is string => typeof value === 'string';

function isSandboxRef(value: unknown): value is SandboxRef {
  const ref = value as Partial<SandboxRef> | undefined;
  return typeof ref === 'object' && ref !== null && isText(ref.root) && isText(ref.id) && isText(ref.provider);
}
const isPortRef = (value: unknown): value is PortRef => isSandboxRef(value) && Number.isSafeInteger((value as Partial<PortRef>).port);
const isServiceRef = (value: unknown): value is ServiceRef => isSandboxRef(value) && isText((value as Partial<ServiceRef>).service);
const isFileRef = (value: unknown): value is FileRef => isSandboxRef(value) && isText((value as Partial<FileRef>).path) && typeof (value as Partial<FileRef>).folder === 'boolean';

export const portOf = (argument: unknown): PortRef | undefined => nodeOf(argument)?.port ?? (isPortRef(argument) ? argument : undefined);
export const serviceOf = (argument: unknown): ServiceRef | undefined => nodeOf(argument)?.service ?? (isServiceRef(argument) ? argument : undefined);
export const fileOf = (argument: unknown): FileRef | undefined => nodeOf(argument)?.file ?? (isFileRef(argument) ? argument : undefined);

const isAttached = ({ sandbox }: KnownSandbox): boolean => sandbox.attached;

/** Rejects with `Failure` where there is none to act on. `fits` says which are offered; one that a caller passed is taken as it is. */
export async function sandboxTarget(services: Services, argument: unknown, fits: (known: KnownSandbox) => boolean = isAttached): Promise<SandboxRef | undefined> {
  const passed = nodeOf(argument)?.sandbox;
  if (passed) return passed;
  if (isSandboxRef(argument)) return { root: argument.root, id: argument.id, provider: argument.provider };
  const list = (await services.sandboxes.current()).filter(fits);
  const active = vscode.window.activeTextEditor?.document.uri;
  const edited = active?.scheme === SandboxScheme ? list.find(({ sandbox }) => isAuthorityOf(active.authority, sandbox)) : undefined;
  if (edited) return refOfSandbox(edited);
  if (list.length === 0) throw new Failure(l10n.t('no sandbox is live'), { title: l10n.t('Open Sandbox'), command: Commands.openSandbox });
  if (list.length === 1) return refOfSandbox(list[0]!);
  const items = list.map((known) => {
    const { label, description } = sandboxNode(known);
    return { label, description, detail: known.sandbox.id, ref: refOfSandbox(known) };
  });
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which sandbox?'), matchOnDescription: true, matchOnDetail: true }))?.ref;
}

/** For a sentence; of one that is gone, its id. */
export const nameOf = ({ sandboxes }: Pick<Services, 'sandboxes'>, ref: SandboxRef | undefined): string => {
  const known = ref && sandboxes.get(ref);
  return known ? sandboxName(known.sandbox) : (ref?.id ?? l10n.t('the sandbox'));
};
