/** Starts a sandbox's processes and waits until its first one answers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Ability } from './ability.js';
import type { Group } from './cgroups.js';
import { startFailure } from './failures.js';
import { Gate } from './gate.js';
import { HOST_ENVIRONMENT } from './host.js';
import type { Target } from './joined.js';
import { launchSteps, limitLines, type Launch } from './launch.js';
import { CommandOutput, type OutputPipe } from './outputPipe.js';
import { kill, withWord } from './processes.js';
import { quote } from '../quote.js';
import { exports } from './shell.js';
import { discard, openLine, type Slot } from './slots.js';
import type { Starter } from './starter.js';
import { tool } from './tools.js';

export interface Started {
  readonly gate: Gate;
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  readonly target: Target;
  readonly surroundings: string;
  readonly oomKills: number;
  /** Resolves when nothing of it runs any more. */
  readonly ended: Promise<void>;
}

export interface StartParts {
  readonly stateDir: string;
  readonly ability: Ability;
  readonly starter: Starter;
  readonly slot: Slot;
  readonly group: Group;
  readonly id: string;
  readonly launch: Launch;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
}

const PATIENCE_MS = 5_000;

/** What a command finds in its environment if nobody says otherwise. */
const ENVIRONMENT = { PATH: HOST_ENVIRONMENT.PATH, HOME: '/root' };

/** Rejects with what went wrong, or the signal's reason, when nothing of it runs any more. The slot is then used up. */
export async function start(parts: StartParts, signal: AbortSignal): Promise<Started> {
  const { ability, launch, group, slot, id } = parts;
  const surroundings = surroundingsOf(parts);
  const line = await openLine(slot).catch((error: unknown) => {
    discard(slot);
    throw error;
  });
  const gate = new Gate(line);
  const complaints = new CommandOutput();
  let said = '';
  complaints.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)));
  slot.stderr.serve(complaints);
  let settled = (): void => undefined;
  const failed = new Promise<never>((_, reject) => {
    settled = parts.starter.start(id, slot, launchSteps(parts.stateDir, ability, launch, id), reject);
    void gate.closed.then(() => slot.stderr.finish(() => undefined).then(() => startFailure(said)).then(reject));
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  failed.catch(() => undefined);
  try {
    const [oomKills] = await Promise.race([Promise.all([group.oomKills(), gate.run(surroundings)]), failed]);
    slot.stderr.cut();
    const target: Target = { ability, launcher: gate.launcher!, gate: gate.pid!, build: launch.build, user: gate.user, procs: group.procs, limitLines: limitLines(ability, launch.limits) };
    return { gate, stdout: slot.stdout, stderr: slot.stderr, target, surroundings, oomKills, ended: gate.closed };
  } catch (error) {
    discard(slot);
    await abandon(gate, id);
    throw error;
  } finally {
    settled();
  }
}

/**
 * Sees to it that nothing runs of a sandbox that did not come up. The pipes have no names any more, so what has not opened them yet ends there;
 * what has ends with its program, wherever it has come to, but is not left time for that.
 */
async function abandon(gate: Gate, id: string): Promise<void> {
  gate.end();
  for (const pid of [gate.pid, ...(await withWord(id))]) if (pid !== undefined) kill(pid);
  if (gate.launcher !== undefined) await Promise.race([gate.closed, pause(PATIENCE_MS, undefined, { ref: false })]);
}

/** Where the user's home is: what the sandbox's table of users says, else the root, as container engines have it. */
const homeLines = (user: string): string =>
  `HOME=/\nwhile IFS=: read -r n p u g c h s; do case ${quote(user.split(':')[0]!)} in "$n" | "$u") HOME=$h; break ;; esac; done 2>/dev/null </etc/passwd\n`;

/** Environment and folder, as lines of shell. A folder that is missing is made, as container engines do. */
function surroundingsOf({ env, workdir, launch }: StartParts): string {
  const lines = `${exports(ENVIRONMENT)}${launch.user === undefined ? '' : homeLines(launch.user)}${exports({ ...launch.source.root.env, ...env })}`;
  const folder = workdir ?? launch.source.root.workdir;
  if (folder === undefined || folder === '/') return lines;
  return `${lines}[ -d ${quote(folder)} ] || ${tool('mkdir').join(' ')} -p -- ${quote(folder)}\ncd -- ${quote(folder)}\n`;
}
