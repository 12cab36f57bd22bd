/** Open a template, write a first one, get the examples. */
import * as l10n from '@vscode/l10n';
import { access, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { nothing } from '../commander.js';
import { Failure } from '../failure.js';
import { Commands, InternalCommands } from '../ids.js';
import { newTemplate } from '../newTemplate.js';
import { pickRoot, roots } from '../roots.js';
import type { Services } from '../services.js';
import { templateName, templateTarget } from './targets.js';

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export function registerTemplateCommands(services: Services): void {
  const { commander, context } = services;

  commander.register(Commands.openTemplate, {
    target: (argument) => templateTarget(services, argument),
    failed: (why, ref) => l10n.t('Failed to open {0}: {1}', templateName(ref), why),
    run: async ({ file }) => vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file)),
  });
  commander.register(InternalCommands.openProblem, {
    target: (argument) => (isPlace(argument) ? argument : undefined),
    failed: (why) => l10n.t('Failed to go to the problem: {0}', why),
    run: async ({ file, line, column }) => {
      const position = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
      return vscode.window.showTextDocument(vscode.Uri.file(file), { selection: new vscode.Range(position, position) });
    },
  });
  commander.register(Commands.newEnvironment, {
    target: nothing,
    failed: (why) => l10n.t('Failed to create an environment: {0}', why),
    run: newEnvironment,
  });
  commander.register(Commands.openExamples, {
    target: nothing,
    failed: (why) => l10n.t('Failed to open the examples: {0}', why),
    run: () => openExamples(context),
  });
}

function isPlace(value: unknown): value is Place {
  const place = value as Partial<Place> | undefined;
  return typeof place?.file === 'string' && typeof place.line === 'number' && typeof place.column === 'number';
}

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false);

async function newEnvironment(): Promise<void> {
  const root = await pickRoot();
  if (!root) return;
  const path = (name: string) => join(root.path, `${name}.rlenv.yaml`);
  const name = await vscode.window.showInputBox({
    title: l10n.t('New Environment'),
    prompt: l10n.t('Name of the environment; its file is <name>.rlenv.yaml'),
    value: 'my-env',
    validateInput: async (text) => {
      if (!/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/.test(text)) return l10n.t('Expected 1 to 63 of a-z, 0-9, ".", "_" and "-", starting and ending with a letter or digit.');
      return (await exists(path(text))) ? l10n.t('{0} exists already.', `${text}.rlenv.yaml`) : undefined;
    },
  });
  if (name === undefined) return;
  await writeFile(path(name), newTemplate(name), { flag: 'wx' });
  await vscode.window.showTextDocument(vscode.Uri.file(path(name)));
}

/** The examples are copied: what is run writes beside what it runs, and an installed extension is no place for that. */
async function openExamples(context: vscode.ExtensionContext): Promise<void> {
  const source = join(context.extensionPath, 'examples');
  if (!(await exists(source))) throw new Failure(l10n.t('this installation has no examples'));
  const choice = roots().length > 0 ? await pickPlace() : 'elsewhere';
  if (choice === undefined) return;
  const parent = choice === 'here' ? (await pickRoot())?.path : await pickFolder();
  if (parent === undefined) return;
  const target = await freeName(join(parent, 'rl-sandboxes-examples'));
  await cp(source, target, { recursive: true, filter: (path) => !/[\\/]\.rlenv$/.test(path), errorOnExist: true, force: false });
  if (choice === 'here') await vscode.commands.executeCommand('revealInExplorer', vscode.Uri.file(target));
  else await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(target), { forceNewWindow: roots().length > 0 });
}

async function pickPlace(): Promise<'here' | 'elsewhere' | undefined> {
  const items = [
    { label: l10n.t('Copy into this workspace'), place: 'here' as const },
    { label: l10n.t('Copy into another folder and open it'), place: 'elsewhere' as const },
  ];
  return (await vscode.window.showQuickPick(items, { title: l10n.t('Open Examples'), placeHolder: l10n.t('Where shall the examples be put?') }))?.place;
}

async function pickFolder(): Promise<string | undefined> {
  const [folder] = (await vscode.window.showOpenDialog({ canSelectFiles: false, canSelectFolders: true, openLabel: l10n.t('Copy Examples Here') })) ?? [];
  if (folder && folder.scheme !== 'file') throw new Failure(l10n.t('the folder must be on disk'));
  return folder?.fsPath;
}

async function freeName(path: string): Promise<string> {
  for (let index = 1; ; index += 1) {
    const candidate = index === 1 ? path : `${path}-${index}`;
    if (!(await exists(candidate))) return candidate;
  }
}
