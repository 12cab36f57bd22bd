/** Files of a sandbox: what comes in goes through the service's own upload, and is measured there; all else is done by programs inside. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Readable, Transform } from 'node:stream';
import { within } from '../deadline.js';
import { SandboxError } from '../errors.js';
import type { ExecOptions, ExecProcess, OperationOptions } from '../provider.js';
import { ShellFiles } from '../shellFiles.js';
import { newNonce } from '../marked/marker.js';
import type { Endpoint } from './service.js';
import { NOTES } from './shell.js';

const TRANSFER_TIMEOUT_MS = 1_800_000;

/** `PATH PIECE...`: puts a file together from its pieces, if it came in pieces. */
const ASSEMBLE = `p=$1; shift
if [ $# -gt 0 ]; then mkdir -p -- "$(dirname -- "$p")" && : >"$p" || exit; for f; do cat -- "$f" >>"$p" && rm -f -- "$f" || exit; done; fi
`;

type Exec = (argv: readonly string[], options?: ExecOptions) => ExecProcess;
type Upload = Endpoint['upload'];

export class RemoteFiles extends ShellFiles {
  constructor(
    exec: Exec,
    /** Of a command whose output is a transfer. */
    sending: Exec,
    private readonly sendUp: Upload,
    /** Turns whatever went wrong with an upload into what it means. */
    private readonly explain: (error: unknown, doing: string) => Promise<unknown>,
  ) {
    super(exec, (name) => [name], ['/proc', '/sys', '/dev', NOTES], sending);
  }

  override async write(path: string, data: Readable | Uint8Array | string, options: OperationOptions & { readonly mode?: number } = {}): Promise<void> {
    const doing = `Writing ${path}`;
    await within(doing, options, TRANSFER_TIMEOUT_MS, async (signal) => {
      const { arrived, pieces } = await this.transmit(path, data, doing, signal);
      const mode = ((options.mode ?? 0o644) & 0o7777).toString(8);
      await this.complete(this.script(`${ASSEMBLE}${arrived}chmod ${mode} -- "$p"`, path, ...pieces), doing, { signal });
    });
  }

  override async upload(tar: Readable, directory: string, options: OperationOptions = {}): Promise<void> {
    const doing = `Unpacking into ${directory}`;
    const archive = `${NOTES}/${newNonce()}.tar`;
    await within(doing, options, TRANSFER_TIMEOUT_MS, async (signal) => {
      const { arrived, pieces } = await this.transmit(archive, tar, doing, signal);
      const lines = `d=$1; shift
${ASSEMBLE}${arrived}mkdir -p -- "$d" && tar -x -f "$p" -p --no-same-owner -C "$d"; c=$?; rm -f -- "$p"; exit $c`;
      await this.complete(this.script(lines, directory, archive, ...pieces), doing, { signal });
    });
  }

  /** Gives a script that fails unless at `p` is what went out, and where that lies if not there. */
  private async transmit(path: string, data: Readable | Uint8Array | string, doing: string, signal: AbortSignal): Promise<{ arrived: string; pieces: readonly string[] }> {
    let bytes = 0;
    const hash = createHash('sha256');
    const source = data instanceof Readable ? data : Readable.from(data.length === 0 ? [] : [Buffer.from(data as Uint8Array)], { objectMode: false });
    const counted = new Transform({ transform: (chunk: Buffer, _, done) => ((bytes += chunk.length), hash.update(chunk), done(null, chunk)) });
    pipeline(source, counted).catch(() => undefined);
    try {
      const pieces = await this.sendUp(path, counted, signal);
      return { pieces, arrived: `[ "$(stat -L -c %s -- "$p")" = ${bytes} ] && case $(sha256sum <"$p") in ${hash.digest('hex')}*) ;; *) false ;; esac || { echo "what has arrived is not what was sent" >&2; exit 1; }\n` };
    } catch (error) {
      signal.throwIfAborted();
      // A source that broke is why the upload did, and says more.
      if (data instanceof Readable && data.errored) throw data.errored;
      const meant = await this.explain(error, doing);
      throw meant instanceof SandboxError ? meant : new SandboxError(`${doing} failed`, { cause: meant });
    } finally {
      source.destroy();
    }
  }
}
