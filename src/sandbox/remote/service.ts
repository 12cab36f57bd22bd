/** What the shared parts of remote providers ask of one sandbox at a service. */
import type { Readable } from 'node:stream';
import type { TerminalSize } from '../provider.js';

export interface Start {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: boolean;
  readonly size?: TerminalSize;
  /** Whether its output is a transfer of much, of which nothing is waited for but the whole. */
  readonly bulk?: boolean;
}

/** `status` is Go's, which the services are written in: `exit status 1`, `signal: killed`. */
export interface End {
  readonly exitCode?: number;
  readonly exited?: boolean;
  readonly status?: string;
}

/** What a process says, until it or the way to it ends. */
export interface Listener {
  /** False when no more is wanted for now. */
  data(stream: 'stdout' | 'stderr', bytes: Buffer): boolean;
}

export interface RemoteProcess {
  /** How it ended; undefined if the way to it did before, which `broken` then tells. */
  readonly closed: Promise<End | undefined>;
  readonly broken: Error | undefined;
  /** More is wanted. */
  resume(): void;
  /** Resolves when the bytes are taken; with a terminal they are what is typed. */
  input(bytes: Buffer, signal: AbortSignal): Promise<unknown>;
  closeInput(signal: AbortSignal): Promise<unknown>;
  resize(size: TerminalSize, signal: AbortSignal): Promise<unknown>;
  /** Nothing more is wanted, and what is left may end in good order. */
  leave(): void;
  disconnect(): void;
}

/** The way into one sandbox. */
export interface Endpoint {
  start(start: Start, listener: Listener, signal: AbortSignal): Promise<RemoteProcess>;
  /** Runs a script of ours, `sh -c SCRIPT sh ARGS...`, beside all commands: nothing but itself has to be spared by it. Absent where commands are no different. */
  say?(script: string, args: readonly string[], signal: AbortSignal): Promise<{ readonly code: number; readonly said: string; readonly errors: string }>;
  /** Writes a file with the folders above it, from a stream as fast as it goes out; or in pieces, whose paths it gives, to be put together there. */
  upload(path: string, data: Readable, signal: AbortSignal): Promise<readonly string[]>;
  /** Whether anybody answers for the sandbox; undefined if that cannot be told. */
  answers(signal: AbortSignal): Promise<boolean | undefined>;
  /** What went wrong, as one of the project's errors; those, and the reasons of aborted signals, stay as they are. */
  translate(error: unknown, doing: string): unknown;
}
