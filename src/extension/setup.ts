/** Whether anything can run here: the engine's own diagnosis, asked for when a person looks, and kept while it is good. */
import * as vscode from 'vscode';
import type { DoctorReport } from '../runner/api.js';
import { Disposing } from './dispose.js';
import { Settings } from './ids.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';
import { defaultProvider } from './settings.js';

export class Setup extends Disposing {
  private report: DoctorReport | undefined;
  private asking: Promise<DoctorReport> | undefined;
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;

  /** `storage` stands in for a workspace folder where none is open, or none is trusted: a check runs a sandbox from what lies in the folder. */
  constructor(
    private readonly runner: Runner,
    private readonly storage: string,
    private readonly log: vscode.LogOutputChannel,
  ) {
    super();
    this.own(vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(Settings.provider) && this.forget()));
  }

  /** The last report, if there is one. */
  get known(): DoctorReport | undefined {
    return this.report;
  }

  async check(signal?: AbortSignal): Promise<DoctorReport> {
    const folder = vscode.workspace.isTrusted ? roots()[0]?.path : undefined;
    this.asking ??= this.runner
      .request('doctor', { root: folder ?? this.storage, provider: defaultProvider() }, { signal })
      .finally(() => (this.asking = undefined));
    const before = JSON.stringify(this.report);
    this.report = await this.asking;
    // Whoever hears of it draws anew, and where nothing answers asks again for that.
    if (JSON.stringify(this.report) !== before) this.changed.fire();
    return this.report;
  }

  /** Asks in the background unless it is known that something answers, or nothing may run anyway. */
  ensure(): void {
    if (this.report?.chosen || !vscode.workspace.isTrusted) return;
    this.check().catch((error: unknown) => this.log.warn(`setup check: ${String(error)}`));
  }

  forget(): void {
    this.report = undefined;
  }
}
