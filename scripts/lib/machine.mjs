// What suites need of the machine: each thing is set up once, on first need, and the answer says why it cannot be had. A set-up that breaks is
// no such answer: it rejects, and the suites that need it fail.
import { execPath } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureBrowser } from '../setup/browser.mjs';
import { ensureBubblewrap } from '../setup/bubblewrap.mjs';
import { ensureDocker } from '../setup/docker.mjs';
import { ensurePodman } from '../setup/podman.mjs';
import { ensureVsCode } from '../setup/vscode.mjs';
import { run } from './command.mjs';
import { findProgram } from './find.mjs';

const isRoot = () => process.getuid?.() === 0;

export class Machine {
  /** Environment of every suite. */
  env = {};
  #answers = new Map();
  #docker;
  #podman;

  #setups = {
    root: async () => (isRoot() ? undefined : 'needs root'),
    bubblewrap: async () => ((await ensureBubblewrap()) ? undefined : process.platform === 'linux' ? 'bubblewrap is not installed' : 'bubblewrap is for Linux'),
    ordinaryUser: () => this.#checkOrdinaryUser(),
    docker: () => this.#startDocker(),
    podman: () => this.#startPodman(),
    sandboxes: async () => {
      const reason = await this.need('bubblewrap');
      const other = reason && (await this.need('docker'));
      return other ? `${reason}; ${other}` : undefined;
    },
    browser: async () => ((await ensureBrowser()) ? undefined : 'no Chromium, Chrome or Edge is installed'),
    vscode: async () => (await ensureVsCode()).missing,
  };

  /**
   * Sets one thing up.
   * @returns {Promise<string | undefined>} why it cannot be had, in one line
   */
  need(name) {
    if (!this.#answers.has(name)) this.#answers.set(name, this.#setups[name]());
    return this.#answers.get(name);
  }

  /** Ends what was started, also what is just starting. */
  async close() {
    const starting = ['docker', 'podman'].map((name) => this.#answers.get(name)?.catch(() => undefined));
    await Promise.race([Promise.all(starting), delay(15_000, undefined, { ref: false })]);
    await Promise.all([this.#docker?.stop(), this.#podman?.stop()]);
  }

  /** Root lends its clone to `nobody`; anyone else is ordinary already. */
  async #checkOrdinaryUser() {
    if (!isRoot()) return undefined;
    if (!(await findProgram('setpriv')) || !(await findProgram('unshare'))) return 'setpriv and unshare are not installed';
    const { code } = await run('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', execPath, '--version'], { cwd: '/', allowFailure: true });
    return code === 0 ? undefined : `an ordinary user cannot run ${execPath}`;
  }

  async #startPodman() {
    this.#podman = await ensurePodman();
    Object.assign(this.env, this.#podman.env);
    return this.#podman.missing;
  }

  async #startDocker() {
    this.#docker = await ensureDocker();
    Object.assign(this.env, this.#docker.env);
    return this.#docker.missing;
  }
}
