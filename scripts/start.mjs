// `npm start`: from a fresh clone to 512 episodes of the hello example, with all that takes. Arguments are passed on to `rl-sandboxes run`.
import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { run } from './lib/command.mjs';
import { findProgram } from './lib/find.mjs';
import { step, StepFailed } from './lib/steps.mjs';
import { ensureBubblewrap } from './setup/bubblewrap.mjs';
import { ensureDependencies } from './setup/dependencies.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** What to type where this script may not install anything itself. */
const INSTALL = [
  ['apt-get', 'sudo apt-get install bubblewrap'],
  ['dnf', 'sudo dnf install bubblewrap'],
  ['pacman', 'sudo pacman -S bubblewrap'],
  ['zypper', 'sudo zypper install bubblewrap'],
  ['apk', 'sudo apk add bubblewrap'],
];

async function advice() {
  if (process.platform !== 'linux') return 'Sandboxes need Docker on this system: start Docker Desktop, then run `npm start` again.';
  for (const [manager, command] of INSTALL) if (await findProgram(manager)) return `Sandboxes need bubblewrap or Docker. Install bubblewrap with\n\n    ${command}\n\nthen run \`npm start\` again.`;
  return 'Sandboxes need bubblewrap or Docker. Install the package bubblewrap, then run `npm start` again.';
}

const dockerAnswers = () => run('docker', ['version', '--format', '{{.Server.Version}}'], { timeoutMs: 10_000 }).then(() => true, () => false);

try {
  await ensureDependencies();
  if (!(await ensureBubblewrap()) && !(await dockerAnswers())) throw new StepFailed(await advice());
  await step('Built', () => run(execPath, ['scripts/build.mjs'], { timeoutMs: 120_000 }));
} catch (error) {
  console.error(error instanceof StepFailed ? error.message : error);
  process.exit(1);
}

const child = spawn(execPath, ['dist/cli.mjs', 'run', 'examples/hello.rlenv.yaml', '-c', '64', ...process.argv.slice(2)], { stdio: 'inherit' });
// A terminal's Ctrl-C reaches the child too, which tidies up and says how it ended; a signal sent to us alone is passed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(error);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
