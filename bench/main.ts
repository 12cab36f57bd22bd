/** `npm run bench`: every figure beside its floor, in one run. `-- quick` takes fewer episodes; names (`bubblewrap docker restore remote faults cli trace traces webview vscode tree`) pick parts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { bubblewrap } from './bubblewrap.js';
import { commandLine } from './commandLine.js';
import { docker } from './docker.js';
import { faults } from './faults.js';
import { table, type Figure } from './measure.js';
import { remote } from './remote.js';
import { restore } from './restore.js';
import { trace } from './trace.js';
import { traces } from './traces.js';
import { vscode } from './vscode.js';
import { vscodeTree } from './vscodeTree.js';
import { webview } from './webviewFigures.js';

const words = process.argv.slice(2);
const quick = words.includes('quick');
const PARTS: Record<string, (root: string) => Promise<Figure[]>> = {
  bubblewrap,
  docker: (root) => docker(root, quick ? 64 : undefined),
  restore,
  remote: (root) => remote(root, quick ? 64 : undefined),
  faults: (root) => faults(root, quick ? 64 : undefined),
  cli: (root) => commandLine(root, quick ? 2000 : undefined),
  trace,
  traces: (root) => traces(root, quick ? 100_000 : undefined),
  webview,
  vscode,
  tree: vscodeTree,
};
const chosen = Object.keys(PARTS).filter((name) => !words.some((word) => word in PARTS) || words.includes(name));

async function main(): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'rl-bench-'));
  const figures: Figure[] = [];
  try {
    for (const name of chosen) {
      process.stderr.write(`${name} ...\n`);
      figures.push(...(await PARTS[name]!(root)));
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  console.log(`\n${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}; medians, taken in turns\n`);
  console.log(table(figures));
  process.exitCode = figures.some((figure) => figure.met === false) ? 1 : 0;
}

void main();
