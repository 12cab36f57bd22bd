/** gVisor, as a runtime of the engine. */
import { SandboxError, Unsupported } from '../errors.js';
import type { NetworkPolicy, Sandbox } from '../provider.js';

/** The name under which `runsc install` registers it. */
export const RUNTIME = 'runsc';

/** Of the engine's answer of `/info`. */
export type Runtimes = Readonly<Record<string, { readonly runtimeArgs?: readonly string[] | null } | undefined>>;

/** Host threads and processes of its own: of the kernel in user space, and of the process that opens files for it. */
export const OWN_PIDS = 512;

/** Why there is none, in one line; undefined if there is. */
export function lackOfGvisor(runtimes: Runtimes): string | undefined {
  return runtimes[RUNTIME] ? undefined : `the engine has no runtime \`${RUNTIME}\`: install gVisor, register it with \`sudo ${RUNTIME} install\` and restart the engine, see https://gvisor.dev/docs/user_guide/install/`;
}

/** @throws Unsupported where a sandbox of this kind cannot be had. */
export function requireGvisor(runtimes: Runtimes, network: NetworkPolicy): void {
  const lack = lackOfGvisor(runtimes);
  if (lack !== undefined) throw new Unsupported(`isolation by gVisor was asked for, and ${lack}`);
  if (network === 'full' && runtimes[RUNTIME]?.runtimeArgs?.some((argument) => /^--?network=none$/.test(argument))) {
    throw new Unsupported(`a network was asked for, and the engine's runtime \`${RUNTIME}\` is registered with \`--network=none\`: register it without, or write \`network: none\``);
  }
}

/**
 * gVisor can keep what a sandbox writes to itself (`--overlay2`, on by default since 2023), and then the engine sees nothing of it.
 * @throws Unsupported if that is so
 */
export async function requireWritesSeen(sandbox: Sandbox, changes: () => Promise<readonly { readonly path: string }[]>, signal: AbortSignal): Promise<void> {
  // Not in /tmp, where gVisor has a file system of its own if the image has nothing there.
  const probe = '/var/tmp/.rl-sandboxes-probe';
  const run = async (...argv: string[]): Promise<void> => {
    const child = sandbox.exec(argv, { signal });
    child.stdout.resume();
    child.stderr.resume();
    const { code } = await child.exit;
    if (code !== 0) throw new SandboxError(`the sandbox cannot write to /var/tmp: ${argv[0]} ended with exit code ${code}`);
  };
  await run('mkdir', '-p', probe);
  try {
    if ((await changes()).some(({ path }) => path === probe)) return;
  } finally {
    await run('rmdir', probe);
  }
  throw new Unsupported(`gVisor keeps what the sandbox writes to itself here; for snapshots register the engine's runtime with \`sudo ${RUNTIME} install -- --overlay2=none\``);
}
