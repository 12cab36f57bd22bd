/** Live sandboxes, asked for only while a person looks at them. */
import * as vscode from 'vscode';
import type { SandboxInfo } from '../sandbox/provider.js';
import { Disposing } from './dispose.js';
import { roots } from './roots.js';
import type { Runner } from './runner.js';
import { Throttle } from './throttle.js';

export interface KnownSandbox {
  readonly root: string;
  readonly sandbox: SandboxInfo;
}

/** Listing asks every provider, which a run of hundreds of short episodes would otherwise cause ten times a second. */
const LIST_MS = 1000;

export class Sandboxes extends Disposing {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** Some began or ended. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly runner: Runner) {
    super();
    const throttle = this.own(new Throttle(LIST_MS, () => this.changed.fire()));
    this.own(runner.on('changed', ({ kind }) => kind === 'sandboxes' && throttle.trigger()));
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(() => throttle.trigger()));
  }

  /** Oldest first; none in a workspace that is not trusted, since providers look for them with what lies in its folder. Two folders may see the same sandbox: providers list what is on the machine. */
  async list(): Promise<KnownSandbox[]> {
    if (!vscode.workspace.isTrusted) return [];
    const lists = await Promise.all(roots().map(async ({ path }) => (await this.runner.request('sandbox/list', { root: path })).map((sandbox) => ({ root: path, sandbox }))));
    const unique = new Map(lists.flat().map((known) => [`${known.sandbox.provider} ${known.sandbox.id}`, known]));
    return [...unique.values()].sort((a, b) => a.sandbox.createdAt - b.sandbox.createdAt);
  }
}
