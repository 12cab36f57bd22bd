/** The one wrapper round every command: trust, the target, the sentence when it fails, silence when it is cancelled. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Disposing } from './dispose.js';
import { details, Failure, isCancellation, reason, remedy } from './failure.js';
import { Commands, type CommandId, type InternalCommandId } from './ids.js';

export interface Command<T> {
  /** What to act on, from what the caller passed, or by asking. Undefined: nothing chosen, and nothing happens. */
  readonly target: (argument: unknown, more: readonly unknown[]) => Promise<T | undefined> | T | undefined;
  readonly run: (target: T) => Promise<unknown>;
  /** `Failed to <verb> <object>: <why>`. */
  readonly failed: (why: string, target: T | undefined) => string;
  /** Refused while the workspace is not trusted: it runs something, or changes what a run left. */
  readonly needsTrust?: boolean;
}

/** Target of a command that acts on nothing in particular. */
export const nothing = (): true => true;

export class Commander extends Disposing {
  constructor(private readonly log: vscode.LogOutputChannel) {
    super();
  }

  register<T>(id: CommandId | InternalCommandId, command: Command<T>): void {
    this.own(vscode.commands.registerCommand(id, (...passed: unknown[]) => this.execute(id, command, passed)));
  }

  /** Shows and logs a failure of something that no command waits for. */
  report(error: unknown, failed: (why: string) => string): void {
    if (isCancellation(error)) return;
    const message = failed(reason(error));
    this.log.error(`${message}\n${details(error)}`);
    void this.show(message, error);
  }

  private async execute<T>(id: string, command: Command<T>, passed: readonly unknown[]): Promise<unknown> {
    const [argument, ...more] = passed;
    let target: T | undefined;
    this.log.debug(`command ${id}`);
    try {
      if (command.needsTrust && !vscode.workspace.isTrusted) throw untrusted();
      if (isGone(passed)) throw new Failure(l10n.t('the list was being drawn again; try once more'));
      target = await command.target(argument, more);
      if (target === undefined) return undefined;
      return await command.run(target);
    } catch (error) {
      this.report(error, (why) => command.failed(why, target));
      return undefined;
    }
  }

  private async show(message: string, error: unknown): Promise<void> {
    const help = remedy(error);
    const showLog = l10n.t('Show Log');
    const chosen = await vscode.window.showErrorMessage(message, ...(help ? [help.title] : []), showLog);
    if (help && chosen === help.title) await vscode.commands.executeCommand(help.command, ...(help.arguments ?? []));
    else if (chosen === showLog) await vscode.commands.executeCommand(Commands.showLog);
  }
}

/**
 * Whether an item of a tree was meant that VS Code knows no more: it passes what was clicked and what is selected besides, and undefined for an item
 * that is being loaded again. Nothing else may be taken in its place.
 */
const isGone = (passed: readonly unknown[]): boolean => passed.length > 1 && passed[0] === undefined;

const untrusted = (): Failure =>
  new Failure(l10n.t('this workspace is not trusted, so nothing in it is run'), { title: l10n.t('Manage Workspace Trust'), command: 'workbench.trust.manage' });
