/** Build: a sandbox from the base image, set up, snapshotted. Nothing is kept of one that fails. */
import { realpath } from 'node:fs/promises';
import { BuildFailed, ExecTimeout } from '../sandbox/errors.js';
import { packDirectory } from '../sandbox/archive.js';
import type { NetworkRequest } from '../sandbox/network/proxy.js';
import type { Provider, ProviderSnapshot, Resources, Sandbox, SandboxLabels } from '../sandbox/provider.js';
import type { SetupStep, Template } from '../template/template.js';
import { holdGpus } from './gpus.js';
import { Redactor } from './secrets.js';
import { OutputCapture, consume } from './output.js';
import { discard } from './teardown.js';

const STEP_TIMEOUT_MS = 30 * 60_000;
const BUILD_LIFETIME_MS = 6 * 3_600_000;

export interface BuildContext {
  readonly provider: Provider;
  readonly labels: Omit<SandboxLabels, 'expires'>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Decoded output of the image build and of setup, as it comes, without secrets. Hostile text. */
  readonly onOutput: (text: string) => void;
}

/** What a build needs of a template; a scoring sandbox of a reward has the same. */
export type Buildable = Pick<Template, 'name' | 'base' | 'packages' | 'files' | 'env' | 'resources' | 'network' | 'setup' | 'user' | 'writable' | 'reward'>;

/** Rejects with `BuildFailed` where the template is at fault, and with infrastructure errors as they are. */
export async function buildSnapshot(template: Buildable, context: BuildContext): Promise<ProviderSnapshot> {
  const { provider, signal } = context;
  const gpus = await holdGpus([{ provider, resources: template.resources }], signal);
  try {
    return await buildWith(gpus.resources[0]!, template, context);
  } finally {
    gpus.release();
  }
}

async function buildWith(resources: Resources, template: Buildable, context: BuildContext): Promise<ProviderSnapshot> {
  const { provider, signal } = context;
  const decoder = new TextDecoder();
  const sandbox = await provider.create(
    template.base,
    {
      labels: { ...context.labels, expires: Date.now() + BUILD_LIFETIME_MS },
      resources,
      env: { ...template.env, ...context.secrets },
      network: template.network.setup,
      onNetwork: tellRefusals(context.onOutput),
      lifetimeMs: BUILD_LIFETIME_MS,
    },
    { signal, onOutput: (chunk) => context.onOutput(decoder.decode(chunk, { stream: true })) },
  );
  try {
    const builder = new Builder(sandbox, context);
    await builder.copyFiles(template.files);
    await builder.installPackages(template.packages);
    for (const [index, step] of template.setup.entries()) await builder.step(step, `setup step ${index + 1}`);
    await builder.prepareUser(template);
    await sandbox.killAll({ signal });
    return await sandbox.snapshot('filesystem', { signal });
  } finally {
    await discard(sandbox);
  }
}

/** Most refused requests that a build's output tells of. */
const MOST_REFUSALS = 100;

function tellRefusals(onOutput: BuildContext['onOutput']): (request: NetworkRequest) => void {
  let told = 0;
  return ({ host, port, refused }) => {
    if (refused !== undefined && told++ < MOST_REFUSALS) onOutput(`network: ${host}:${port} was refused: it ${refused}\n`);
  };
}

/** `sh -c MAKE_FOLDERS sh USER FOLDER...`: those that are missing, for a user if one is named. */
const MAKE_FOLDERS = `u=$1; shift
for d; do [ -d "$d" ] || { mkdir -p -- "$d" && { [ -z "$u" ] || chown -- "$u" "$d"; }; } || exit; done`;

class Builder {
  private readonly redactor: Redactor;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly context: BuildContext,
  ) {
    this.redactor = new Redactor(context.secrets);
  }

  async copyFiles(files: Template['files']): Promise<void> {
    if (files.length === 0) return;
    // What a link in the template's folder leads to is what is copied, under the name that was asked for.
    const entries = await Promise.all(files.map(async ({ from, to }) => ({ name: to.slice(1), source: await realpath(from) })));
    await this.sandbox.files.upload(packDirectory(entries), '/', { signal: this.context.signal });
  }

  async installPackages({ apt, python }: Template['packages']): Promise<void> {
    if (apt.length) {
      await this.run(['apt-get', 'update', '-q'], 'apt-get update');
      await this.run(['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...apt], 'installing apt packages', { DEBIAN_FRONTEND: 'noninteractive' });
    }
    if (python.length) {
      const pip = ['python3', '-m', 'pip', 'install', '--no-cache-dir', '--disable-pip-version-check', ...python];
      // Debian marks its Python as managed by apt; inside a sandbox there is nothing to protect.
      await this.run(pip, 'installing python packages', { PIP_BREAK_SYSTEM_PACKAGES: '1', PIP_ROOT_USER_ACTION: 'ignore' });
    }
  }

  step(step: SetupStep, what: string): Promise<void> {
    const argv = step.run !== undefined ? ['sh', '-e', '-c', step.run] : ['python3', '-c', step.python];
    return this.run(argv, what, {}, step.timeout);
  }

  /** An episode that may not write to the root, or not as another user, finds the folders that it has to write to. */
  async prepareUser({ user, writable, reward }: Buildable): Promise<void> {
    const folders = writable ?? (user === undefined ? [] : reward.flatMap((component) => (component.type === 'files' ? component.directory : [])));
    const [name = ''] = (user ?? '').split(':');
    if (/^[^\d]/.test(name)) await this.run(['sh', '-c', 'id -u -- "$1" >/dev/null', 'sh', name], `looking for the user ${name} in the image`);
    if (folders.length > 0) await this.run(['sh', '-c', MAKE_FOLDERS, 'sh', user ?? '', ...folders], 'making the folders to write to');
  }

  private async run(argv: readonly string[], what: string, env: Record<string, string> = {}, timeoutMs = STEP_TIMEOUT_MS): Promise<void> {
    const { signal, onOutput } = this.context;
    const output = new OutputCapture();
    const child = this.sandbox.exec(argv, { env, timeoutMs, signal });
    const decoders = [new TextDecoder(), new TextDecoder()];
    const drained = [child.stdout, child.stderr].map((stream, index) => {
      const clean = this.redactor.clean(stream);
      clean.on('data', (chunk: Uint8Array) => onOutput(decoders[index]!.decode(chunk, { stream: true })));
      return consume(clean, output);
    });
    try {
      const { code, killedBy } = await child.exit;
      await Promise.all(drained);
      if (code !== 0) throw new BuildFailed(`${what} ended with exit code ${code}${killedBy ? `, killed for its ${killedBy}` : ''}`, output.text());
    } catch (error) {
      if (error instanceof ExecTimeout) throw new BuildFailed(`${what}: ${error.message}`, output.text(), { cause: error });
      throw error;
    }
  }
}
