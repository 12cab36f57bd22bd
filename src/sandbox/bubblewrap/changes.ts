/** What a sandbox has changed against what it was restored from. */
import { mountFolder } from './ability.js';
import { LimitExceeded, SandboxError } from '../errors.js';
import { MOST_CHANGES, type FileChange } from '../provider.js';
import { CHANGES_PROGRAM } from './changesProgram.js';
import { runBeside, type Target } from './joined.js';
import { overlaySteps, uppers, type Launch } from './launch.js';
import { record, starterArguments, type Step } from './starterProgram.js';

/** Exit code of the program when there are too many. */
const TOO_MANY = 3;
const KINDS = { A: 'added', M: 'modified', R: 'removed' } as const;

/** Mounts what the sandbox was restored from a second time, beside what it sees, and compares the two where it has written. */
export async function findChanges(stateDir: string, target: Target, { source, network }: Launch, signal: AbortSignal): Promise<FileChange[]> {
  const { ability } = target;
  const mnt = mountFolder(stateDir);
  const trees = uppers(ability, source);
  const at = (folder: string, tree: string): string => (tree === '/' ? folder : `${folder}${tree}`);
  const steps: Step[] = [
    ['unshare'],
    ['chdir', mnt],
    ['tmpfs', 'below', 'size=1m,mode=755'],
    ['mkdir', 'below/root', 0o755],
    ...trees.flatMap((each): Step[] => [['mkdir', `below/${each.upper}`, 0o755], ['mkdir', `below/${each.work}`, 0o755]]),
    ...overlaySteps(ability, source, 'below', 'below/root'),
    ['exec', ability.host.perl, '-e', CHANGES_PROGRAM, '--', mnt, String(MOST_CHANGES), ...trees.flatMap(({ tree, upper }) => [tree, at('/root', tree), at('/below/root', tree), `/fs/${upper}`])],
  ];
  const { code, stdout, stderr } = await runBeside(target, [ability.host.perl, ...starterArguments('once')!], signal, record('changes', ['', '', '', ''], steps));
  if (code === TOO_MANY) throw new LimitExceeded(`the sandbox has changed more than ${MOST_CHANGES} files`);
  if (code !== 0) throw new SandboxError(`what the sandbox has changed cannot be found: ${stderr.trim() || `exit code ${code}`}`);
  const changes = stdout
    .split('\0')
    .filter((line) => line !== '')
    .map((line): FileChange => ({ path: line.slice(1), kind: KINDS[line[0] as keyof typeof KINDS] }));
  // Made so that the resolver's settings could be put there.
  return network === 'full' ? changes.filter(({ path, kind }) => path !== '/etc/resolv.conf' || kind !== 'added') : changes;
}
