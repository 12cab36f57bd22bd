/** The terminals that are open on sandboxes, and the profile that opens one. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Disposing } from '../dispose.js';
import { TerminalProfile } from '../ids.js';
import type { Runner } from '../runner.js';
import { sandboxKey } from '../sandboxes.js';
import { Signal } from '../signal.js';
import type { SandboxRef } from '../views/node.js';
import type { OpenTerminal } from '../views/sandboxNodes.js';
import type { Streams } from './streams.js';
import { SandboxTerminal } from './terminal.js';

interface Known extends OpenTerminal {
  readonly sandbox: string;
  readonly pty: SandboxTerminal;
  readonly terminal?: vscode.Terminal;
}

export class Terminals extends Disposing implements vscode.TerminalProfileProvider {
  private readonly known = new Map<number, Known>();
  private readonly changed = this.own(new Signal<void>());
  readonly onDidChange = this.changed.event;
  private last = 0;

  constructor(
    private readonly runner: Runner,
    private readonly streams: Streams,
    /** Asks a person where there is a choice; undefined if they gave up. */
    private readonly pick: () => Promise<{ readonly ref: SandboxRef; readonly name: string } | undefined>,
  ) {
    super();
    this.own(vscode.window.registerTerminalProfileProvider(TerminalProfile, this));
    this.own(vscode.window.onDidOpenTerminal((terminal) => this.opened(terminal)));
    this.own(vscode.window.onDidCloseTerminal((terminal) => this.closed(terminal)));
  }

  open(ref: SandboxRef, sandboxName: string): vscode.Terminal {
    const { number, name, pty } = this.make(ref, sandboxName);
    const terminal = vscode.window.createTerminal({ name, pty, iconPath: new vscode.ThemeIcon('vm') });
    this.known.set(number, { ...this.known.get(number)!, terminal });
    terminal.show();
    this.changed.fire();
    return terminal;
  }

  of(ref: Pick<SandboxRef, 'provider' | 'id'>): readonly OpenTerminal[] {
    return [...this.known.values()].filter(({ sandbox, terminal }) => terminal && sandbox === sandboxKey(ref));
  }

  show(number: number): void {
    this.known.get(number)?.terminal?.show();
  }

  close(number: number): void {
    this.known.get(number)?.terminal?.dispose();
  }

  async provideTerminalProfile(): Promise<vscode.TerminalProfile | undefined> {
    const picked = await this.pick();
    if (!picked) return undefined;
    const { name, pty } = this.make(picked.ref, picked.name);
    return new vscode.TerminalProfile({ name, pty, iconPath: new vscode.ThemeIcon('vm') });
  }

  private make(ref: SandboxRef, sandboxName: string): Known {
    const number = (this.last += 1);
    const others = this.of(ref).length;
    const name = others === 0 ? sandboxName : l10n.t('{0} ({1})', sandboxName, others + 1);
    const known = { number, name, sandbox: sandboxKey(ref), pty: new SandboxTerminal(this.runner, this.streams, ref) };
    this.known.set(number, known);
    return known;
  }

  private ptyOf(terminal: vscode.Terminal): Known | undefined {
    const options = terminal.creationOptions;
    return 'pty' in options ? [...this.known.values()].find(({ pty }) => pty === options.pty) : undefined;
  }

  /** One that VS Code has made from the profile. */
  private opened(terminal: vscode.Terminal): void {
    const known = this.ptyOf(terminal);
    if (!known || known.terminal) return;
    this.known.set(known.number, { ...known, terminal });
    this.changed.fire();
  }

  private closed(terminal: vscode.Terminal): void {
    const known = [...this.known.values()].find((one) => one.terminal === terminal) ?? this.ptyOf(terminal);
    if (!known) return;
    this.known.delete(known.number);
    this.changed.fire();
  }
}
