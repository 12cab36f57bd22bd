/** A terminal of VS Code on a program in a sandbox. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { TerminalSize } from '../../sandbox/provider.js';
import { Disposing } from '../dispose.js';
import { reason } from '../failure.js';
import { oneLine } from '../format.js';
import type { Runner } from '../runner.js';
import type { SandboxRef } from '../views/node.js';
import type { Streams } from './streams.js';

const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };

export class SandboxTerminal extends Disposing implements vscode.Pseudoterminal {
  private readonly written = this.own(new vscode.EventEmitter<string>());
  readonly onDidWrite = this.written.event;
  private readonly closed = this.own(new vscode.EventEmitter<number | void>());
  readonly onDidClose = this.closed.event;
  private readonly decoder = new TextDecoder();
  private size = DEFAULT_SIZE;
  private terminal: string | undefined;
  /** Typed before there was somebody to read it. */
  private early = '';
  private over = false;

  constructor(
    private readonly runner: Runner,
    private readonly streams: Streams,
    private readonly sandbox: SandboxRef,
  ) {
    super();
  }

  open(size: vscode.TerminalDimensions | undefined): void {
    if (size) this.size = { columns: size.columns, rows: size.rows };
    void this.start();
  }

  /** A person has closed it. */
  close(): void {
    const { terminal } = this;
    if (terminal !== undefined && !this.over) this.runner.request('terminal/close', { root: this.sandbox.root, terminal }).catch(() => undefined);
    this.over = true;
    this.dispose();
  }

  handleInput(data: string): void {
    if (this.over) return this.closed.fire();
    if (this.terminal === undefined) this.early += data;
    else this.send(data);
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    this.size = { columns, rows };
    if (this.terminal !== undefined && !this.over) this.request('terminal/resize', { size: this.size });
  }

  private async start(): Promise<void> {
    const { root, id } = this.sandbox;
    const asked = this.size;
    try {
      const ended = new Map<string, { code?: number; problem?: string }>();
      this.own(
        this.runner.on('terminal/exit', (exit) => {
          if (this.terminal === undefined) ended.set(exit.terminal, exit);
          else if (exit.terminal === this.terminal) this.ended(exit);
        }),
      );
      const { terminal } = await this.runner.request('terminal/open', { root, id, size: asked });
      if (this.over) {
        await this.runner.request('terminal/close', { root, terminal });
        return;
      }
      this.terminal = terminal;
      this.own(this.streams.claim(root, terminal, (data) => this.written.fire(this.decoder.decode(data, { stream: true }))));
      this.own(this.runner.onEnded(() => this.ended({ problem: l10n.t('the engine has ended') })));
      if (this.early) this.send(this.early);
      if (this.size !== asked) this.request('terminal/resize', { size: this.size });
      const already = ended.get(terminal);
      if (already) this.ended(already);
    } catch (error) {
      this.ended({ problem: reason(error) });
    }
  }

  private send(data: string): void {
    this.request('terminal/input', { data });
  }

  private request(...[method, params]: ['terminal/input', { data: string }] | ['terminal/resize', { size: TerminalSize }]): void {
    const place = { root: this.sandbox.root, terminal: this.terminal! };
    const answer = method === 'terminal/input' ? this.runner.request(method, { ...place, ...params }) : this.runner.request(method, { ...place, ...params });
    answer.catch((error: unknown) => this.ended({ problem: reason(error) }));
  }

  /** With a code VS Code says it and closes; what went wrong stays to be read until a key is pressed. */
  private ended({ code, problem }: { code?: number; problem?: string }): void {
    if (this.over) return;
    this.over = true;
    if (problem === undefined) {
      this.closed.fire(code);
      return;
    }
    // It may have been a full-screen program, with colours and a hidden cursor.
    this.written.fire(`\x1b[?1049l\x1b[0m\x1b[?25h\r\n\x1b[31m${oneLine(problem, 400)}\x1b[0m\r\n${l10n.t('Press any key to close the terminal.')}\r\n`);
  }
}
