/** Memory snapshots, as a provider has them whose engine can copy processes: see `podman/checkpoints.ts`. */
import type Docker from 'dockerode';
import type { Readable } from 'node:stream';
import type { ProviderSnapshot, SandboxSpec } from '../provider.js';
import type { Engine } from './engine.js';
import type { Past } from './gate.js';

export interface MemorySnapshots {
  /** What is missing for them, as the end of a sentence; undefined if nothing that can be seen is. */
  missing(engine: Engine, signal: AbortSignal): Promise<string | undefined>;
  /** Takes one of a container, whose processes go on. When it fails nothing is kept. */
  take(engine: Engine, docker: Docker, container: string, about: { readonly owner: string; readonly past: Past; readonly spec: SandboxSpec }, signal: AbortSignal): Promise<Pick<ProviderSnapshot, 'ref' | 'sizeBytes'>>;
  /** Rejects with a sentence if it is gone, or cannot become what `spec` asks for. */
  past(docker: Docker, ref: string, spec: SandboxSpec): Promise<Past>;
  /** Makes a container of one, with the labels and limits of `spec`, in which its processes go on. */
  restore(docker: Docker, ref: string, id: string, spec: SandboxSpec): Promise<Docker.Container>;
  /** All of one as a stream. */
  export(docker: Docker, ref: string): Promise<Readable>;
  /** Takes in what `export` gave, of somebody who is trusted. When it fails nothing is kept. */
  import(engine: Engine, docker: Docker, data: Readable, signal: AbortSignal): Promise<Pick<ProviderSnapshot, 'ref' | 'sizeBytes'>>;
  has(docker: Docker, ref: string): Promise<boolean>;
  /** What is not there is a success. */
  remove(docker: Docker, ref: string, signal: AbortSignal): Promise<void>;
  /** Bytes on disk by `ref`, of those that are there. */
  sizes(docker: Docker, refs: readonly string[]): Promise<Map<string, number>>;
}
