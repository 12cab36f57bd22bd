/** What an engine needs to save processes: CRIU on the machine of the service, as root, on a kernel that it understands. */
import { access, constants } from 'node:fs/promises';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { runCommand } from '../command.js';
import type { Endpoint } from './endpoint.js';

/** Where root's programs are, wherever this user's are. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** As the end of a sentence; undefined if nothing that can be seen from here is missing. */
export async function missingCriu(endpoint: Endpoint, signal: AbortSignal): Promise<string | undefined> {
  // Of another machine only the attempt tells.
  if (endpoint.transport.kind !== 'socket' || process.platform !== 'linux') return undefined;
  const criu = await find('criu');
  if (criu === undefined) return 'CRIU is not installed (Debian, Ubuntu: `sudo apt-get install criu`)';
  for (const [tool, of] of [['nsenter', 'util-linux'], ['ip', 'iproute2']] as const) if ((await find(tool)) === undefined) return `\`${tool}\` is not installed (Debian, Ubuntu: \`sudo apt-get install ${of}\`)`;
  // Only root is told what the kernel can do.
  if (process.getuid?.() !== 0) return undefined;
  const { code, stdout, stderr } = await runCommand(criu, ['check'], { signal });
  if (code === 0) return tooOld(criu, signal);
  const why = `${stdout}\n${stderr}`.split('\n').map((line) => line.replace(/^.*?Error \([^)]*\): /, '').trim()).find((line) => line !== '' && !line.startsWith('Warn'));
  return `CRIU does not work on this kernel: ${why ?? `\`criu check\` ended with exit code ${code}`}`;
}

/** Since Linux 6.16 no CRIU before 4.2 can save a socket: https://github.com/checkpoint-restore/criu/issues/2705. `criu check` does not say so. */
async function tooOld(criu: string, signal: AbortSignal): Promise<string | undefined> {
  if (!atLeast(release(), 6, 16)) return undefined;
  const version = (await versionOf(criu, signal)) ?? '0.0';
  return atLeast(version, 4, 2) ? undefined : `CRIU ${version} cannot save sockets on Linux ${release()}, which needs CRIU 4.2 or newer`;
}

async function versionOf(criu: string, signal: AbortSignal): Promise<string | undefined> {
  return /\d+\.\d+(\.\d+)?/.exec((await runCommand(criu, ['--version'], { signal })).stdout)?.[0];
}

/** Undefined if it cannot be seen from here. */
export async function criuVersion(endpoint: Endpoint, signal: AbortSignal): Promise<string | undefined> {
  const criu = endpoint.transport.kind === 'socket' ? await find('criu') : undefined;
  return criu && versionOf(criu, signal);
}

function atLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

async function find(name: string): Promise<string | undefined> {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...FOLDERS]) {
    const path = join(folder, name);
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
  }
  return undefined;
}
