/** The family of errors that the machinery raises. All but `Unsupported` and those about what a caller asked for are infrastructure: retried where that can help, never a reward. */
import type { Health } from './provider.js';

export class SandboxError extends Error {
  /** Whether doing the same again may succeed. */
  readonly retryable: boolean = true;
  /** Stable name of the kind, the first word of an episode's `cause`. */
  get code(): string {
    return this.constructor.name;
  }
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The provider does not answer. `hint` is what a person can do. */
export class ProviderUnavailable extends SandboxError {
  readonly problem: Health['code'];
  constructor(message: string, readonly hint: string, options?: { cause?: unknown; problem?: Health['code'] }) {
    super(message, options);
    this.problem = options?.problem;
  }
}

/** The sandbox went away under us. */
export class SandboxLost extends SandboxError {}

/** A command outlived its deadline and was killed inside the sandbox. */
export class ExecTimeout extends SandboxError {
  override readonly retryable = false;
  constructor(readonly timeoutMs: number) {
    super(`the command did not end within ${timeoutMs / 1000} s and was killed`);
  }
}

/** An operation of the provider outlived its deadline. */
export class OperationTimeout extends SandboxError {
  constructor(readonly operation: string, readonly timeoutMs: number) {
    super(`${operation} did not finish within ${timeoutMs / 1000} s`);
  }
}

/** A limit of the machine or of the provider: no space, no quota, too many sandboxes. */
export class LimitExceeded extends SandboxError {}

/** The image, the Dockerfile or the setup is wrong: the same again would fail the same way. */
export class BuildFailed extends SandboxError {
  override readonly retryable = false;
  /** Last lines of output, decoded; text from a sandbox. */
  constructor(message: string, readonly output: string = '', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** The provider cannot do what was asked; the sentence says what can. */
export class Unsupported extends SandboxError {
  override readonly retryable = false;
}

/** What was asked for, or went on, needs processes of the sandbox that are on disk. */
export class Suspended extends SandboxError {
  override readonly retryable = false;
  constructor() {
    super('the sandbox is suspended; resume it first');
  }
}

export class NoSuchFile extends SandboxError {
  override readonly retryable = false;
  constructor(readonly path: string) {
    super(`there is no file ${path} in the sandbox`);
  }
}

/** Something is where a file was to be moved to. */
export class FileExists extends SandboxError {
  override readonly retryable = false;
  constructor(readonly path: string) {
    super(`there is something at ${path} in the sandbox already`);
  }
}

/** A connection to a port of a sandbox was refused. */
export class NothingListens extends SandboxError {
  override readonly retryable = false;
  constructor(readonly port: number) {
    super(`nothing in the sandbox listens on port ${port}`);
  }
}
