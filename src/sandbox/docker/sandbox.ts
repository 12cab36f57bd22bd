/** One container as a sandbox. */
import type Docker from 'dockerode';
import type { ExecOptions, ExecProcess, OperationOptions, ProviderSnapshot, Sandbox, SandboxFiles, SandboxInfo, SandboxSpec } from '../provider.js';
import { removeContainer } from './container.js';
import type { Engine } from './engine.js';
import { DockerFiles } from './files.js';
import type { Gate } from './gate.js';
import { containerName } from './labels.js';
import { Processes } from './processes.js';
import { commit } from './snapshots.js';

export class DockerSandbox implements Sandbox {
  readonly files: SandboxFiles;
  private readonly processes: Processes;
  private terminated = false;

  constructor(
    private readonly engine: Engine,
    container: Docker.Container,
    gate: Gate,
    readonly info: SandboxInfo,
    spec: SandboxSpec,
  ) {
    this.processes = new Processes(engine, container, gate, spec);
    this.files = new DockerFiles(engine, container, (argv) => this.exec(argv));
  }

  get id(): string {
    return this.info.id;
  }

  exec(argv: readonly string[], options?: ExecOptions): ExecProcess {
    return this.processes.exec(argv, options);
  }

  killAll(options?: OperationOptions): Promise<void> {
    return this.processes.killAll(options);
  }

  snapshot(options?: OperationOptions): Promise<ProviderSnapshot> {
    return commit(this.engine, containerName(this.id), this.info.labels, options);
  }

  async terminate(options?: OperationOptions): Promise<void> {
    if (this.terminated) return;
    this.processes.end();
    await removeContainer(this.engine, containerName(this.id), options);
    this.terminated = true;
    this.processes.disconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.terminate();
  }
}
