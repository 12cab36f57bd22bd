/** Run a command, or the selected code, in a sandbox; what it writes is streamed to the sandbox's output channel. */
import * as l10n from '@vscode/l10n';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { Failure, isCancellation } from '../../failure.js';
import { formatDuration, oneLine } from '../../format.js';
import { Commands } from '../../ids.js';
import { withCancellableProgress } from '../../progress.js';
import { tellQuietly } from '../../quiet.js';
import { commandFor, LONGEST_CODE } from '../../sandbox/interpreters.js';
import { PlainText } from '../../sandbox/plainText.js';
import type { Services } from '../../services.js';
import type { SandboxRef } from '../../views/node.js';
import { nameOf, sandboxTarget } from './targets.js';

interface Run {
  readonly ref: SandboxRef;
  readonly argv: readonly string[];
  /** What a person typed or selected. */
  readonly shown: string;
}

export function registerExecCommands(services: Services): void {
  const { commander } = services;
  const failed = (why: string, run: Run | undefined) => l10n.t('Failed to run in {0}: {1}', nameOf(services, run?.ref), why);
  let last = '';
  commander.register(Commands.runInSandbox, {
    needsTrust: true,
    target: async (argument): Promise<Run | undefined> => {
      const ref = await sandboxTarget(services, argument);
      if (!ref) return undefined;
      const command = await vscode.window.showInputBox({ title: l10n.t('Run Command in {0}', nameOf(services, ref)), prompt: l10n.t('A command for its shell'), value: last, placeHolder: 'pytest -q' });
      if (!command?.trim()) return undefined;
      last = command;
      return { ref, argv: ['sh', '-c', command], shown: command };
    },
    failed,
    run: (run) => exec(services, run),
  });
  commander.register(Commands.runSelectionInSandbox, {
    target: async (): Promise<Run | undefined> => {
      const { code, language } = selected();
      const argv = commandFor(language, code);
      if (!argv) throw new Failure(l10n.t('no program is known that runs {0}', language));
      const ref = await sandboxTarget(services, undefined);
      return ref && { ref, argv, shown: code };
    },
    needsTrust: true,
    failed,
    run: (run) => exec(services, run),
  });
}

/** The selections, or where nothing is selected the line of the cursor. */
function selected(): { code: string; language: string } {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Failure(l10n.t('no editor is open'));
  const { document, selections } = editor;
  const code = selections.map((selection) => (selection.isEmpty ? document.lineAt(selection.active).text : wholeIndent(document, selection))).join('\n');
  if (!code.trim()) throw new Failure(l10n.t('nothing is selected'));
  if (Buffer.byteLength(code) > LONGEST_CODE) throw new Failure(l10n.t('more than {0} bytes are selected; put them into a file of the sandbox and run that', LONGEST_CODE));
  return { code, language: document.languageId };
}

/** A selection that begins after the indent of its line means the line from its beginning. */
function wholeIndent(document: vscode.TextDocument, { start, end }: vscode.Selection): string {
  const before = document.lineAt(start.line).text.slice(0, start.character);
  return document.getText(new vscode.Range(before.trim() ? start : start.with({ character: 0 }), end));
}

async function exec(services: Services, { ref, argv, shown }: Run): Promise<number | undefined> {
  const { runner, streams, channels } = services;
  const name = nameOf(services, ref);
  const channel = channels.get(name);
  const lines = shown.trim().split('\n');
  channel.appendLine(`$ ${lines.length > 1 ? l10n.t('{0} ({1} lines)', oneLine(lines[0]!), lines.length) : oneLine(shown, 2000)}`);
  channel.show(true);
  const stream = `exec-${randomUUID()}`;
  const texts = { stdout: new PlainText(), stderr: new PlainText() };
  const claim = streams.claim(ref.root, stream, (data, from) => channel.append(texts[from].push(data)));
  const began = performance.now();
  try {
    const outcome = await withCancellableProgress(l10n.t('{0}: {1}', name, oneLine(lines[0]!, 60)), (signal) => runner.request('sandbox/exec', { root: ref.root, id: ref.id, argv, stream }, { signal }));
    if (outcome.cancelled) {
      channel.appendLine(`\n[${l10n.t('cancelled')}]`);
      return undefined;
    }
    // What was on its way when the answer left arrives with the next messages.
    await delay(0);
    channel.append(texts.stdout.end() + texts.stderr.end());
    const { code, killedBy } = outcome.value;
    const why = killedBy === 'memory' ? l10n.t('exit code {0}: out of memory', code) : l10n.t('exit code {0}', code);
    channel.appendLine(`\n[${why}, ${formatDuration(performance.now() - began)}]`);
    tellQuietly(l10n.t('{0}: {1}', name, why));
    return code;
  } catch (error) {
    if (!isCancellation(error)) channel.appendLine(`\n[${oneLine(String(error), 400)}]`);
    throw error;
  } finally {
    claim.dispose();
  }
}
