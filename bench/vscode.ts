/** What the extension costs in a real VS Code: its activation, the way from a click to an episode, memory, and what it costs a run to be watched. */
import { build } from 'esbuild';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Workbench } from '../test/e2e/workbench.js';
import { Workspace } from '../test/e2e/workspace.js';
import { VsCodeMissing, extensionHost, launchVsCode, type VsCode, type VsCodeOptions } from '../test/support/vscode.js';
import { AT_ONCE, EPISODES } from './bubblewrap.js';
import { median, ms, type Figure } from './measure.js';
import type { HostResult, HostTask, Taken, Way } from './vscodeHost.js';

const WINDOWS = 5;
const CLICKS = 5;
const ROUNDS = 3;
const MOST_BUNDLE = 300_000;
const MOST_SLOWDOWN = 1.03;
/** While 64 episodes are looked at live. */
const MOST_LIVE_SLOWDOWN = 1.02;
const HOST_MS = 540_000;

/** Room for the whole list of running extensions, which holds only what is in sight. */
const TALL = { viewport: { width: 1280, height: 2000 } };

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** What VS Code itself says that activation took, ms: loading of the code and the call of `activate`. */
async function activationTime(workbench: Workbench): Promise<number> {
  await workbench.openView();
  await workbench.command('Developer: Show Running Extensions');
  const row = workbench.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: /rl.sandboxes/i });
  const [, time] = /Activation: (\d+)\s*ms/.exec(await row.first().innerText()) ?? [];
  if (time === undefined) throw new Error(`VS Code does not say how long activation took: ${await row.first().innerText()}`);
  return Number(time);
}

/** From the click on Run to the first command of an episode, ms. Resolves when the run has ended. */
async function clickToEpisode(workbench: Workbench, workspace: Workspace): Promise<number> {
  const before = await workspace.runs().catch(() => []);
  await workbench.page.evaluate("document.addEventListener('click', () => (window.clickedAt = Date.now()), { capture: true, once: true })");
  await workbench.press(workbench.template('hello'), 'Run');
  await workbench.run('hello', before.length + 1).waitFor();
  await workbench.runView.waitForState(/finished/i);
  const clickedAt = await workbench.page.evaluate<number>('window.clickedAt');
  const { episodes } = (await workspace.runs()).at(-1)!;
  return Math.min(...episodes.map(({ startedAt, timings }) => startedAt + timings.restore)) - clickedAt;
}

/** A figure of `/proc/PID/status`, bytes. */
async function memory(pid: number, key: 'VmRSS' | 'VmHWM'): Promise<number> {
  return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

/** Opens VS Code over the workspace for as long as `use` takes. */
async function inVsCode<T>(workspace: Workspace, use: (workbench: Workbench, code: VsCode) => Promise<T>, options: Partial<VsCodeOptions> = {}): Promise<T> {
  const code = await launchVsCode({ ...options, extension: process.cwd(), workspace: workspace.folder });
  try {
    return await use(new Workbench(code.page), code);
  } finally {
    await code.close();
  }
}

/** What a person does: opens a window, clicks on Run, looks on. */
async function byHand(workspace: Workspace): Promise<Figure[]> {
  const activations: number[] = [];
  for (let window = 0; window < WINDOWS; window++) activations.push(await inVsCode(workspace, activationTime, TALL));
  const { idle, peak, first, clicks } = await inVsCode(workspace, async (workbench, { pid }) => {
    await workbench.openView();
    const host = await extensionHost(pid);
    const idle = await memory(host, 'VmRSS');
    const first = await clickToEpisode(workbench, workspace);
    // The peak is counted from here on.
    await writeFile(`/proc/${host}/clear_refs`, '5');
    const clicks: number[] = [];
    for (let click = 0; click < CLICKS; click++) clicks.push(await clickToEpisode(workbench, workspace));
    return { idle, peak: await memory(host, 'VmHWM'), first, clicks };
  });
  return [
    { what: 'VS Code: activation, fresh window', ours: ms(median(activations)), floor: '', ratio: '', target: '', met: undefined },
    { what: 'VS Code: click on Run to the first episode, snapshot there / not built', ours: `${ms(median(clicks))} / ${ms(first)}`, floor: '', ratio: '', target: '', met: undefined },
    { what: `VS Code: extension host, idle and at most while ${EPISODES} episodes run, ${AT_ONCE} at once`, ours: `${mb(idle)} and ${mb(peak)}`, floor: '', ratio: (peak / idle).toFixed(2), target: '', met: undefined },
  ];
}

/** The same run in turns: alone, with its run view on screen before it begins, with the view opened as it begins, and with the sidebar open. */
async function watched(workspace: Workspace): Promise<Figure[]> {
  const tests = resolve('out/bench/vscodeHost.js');
  await build({ entryPoints: ['bench/vscodeHost.ts'], outfile: tests, bundle: true, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode'], logLevel: 'warning' });
  const task: HostTask = { root: workspace.folder, file: join(workspace.folder, 'hello.rlenv.yaml'), rounds: ROUNDS, episodes: EPISODES, atOnce: AT_ONCE, pid: process.pid, result: join(workspace.folder, 'result.json') };
  const { taken, error } = await inVsCode(workspace, () => resultOf(task), { tests, env: { RL_BENCH_HOST: JSON.stringify(task) } });
  if (error !== undefined) throw new Error(error);
  const of = (way: Way, key: keyof Taken): number => median(taken[way].map((one) => one[key]));
  const figure = (way: Way, what: string, most: number): Figure => {
    // Runs that followed one another saw the same machine.
    const ratio = median(taken[way].map(({ wall }, round) => wall / taken.alone[round]!.wall));
    const times = (of: (key: keyof Taken) => number) => `${ms(of('wall'))} (VS Code: ${ms(of('cpu'))} of processor time)`;
    return { what: `VS Code: ${EPISODES} hello episodes, ${AT_ONCE} at once, ${what}`, ours: times((key) => of(way, key)), floor: `${times((key) => of('alone', key))}, not watched`, ratio: ratio.toFixed(3), target: `\u2264 ${most}`, met: ratio <= most };
  };
  return [figure('open', 'watched live in a run view that is open', MOST_LIVE_SLOWDOWN), figure('opening', 'watched from the start, with the opening of the view', MOST_SLOWDOWN), figure('sidebar', 'watched in the sidebar', MOST_SLOWDOWN)];
}

async function resultOf({ result }: HostTask): Promise<HostResult> {
  for (const deadline = Date.now() + HOST_MS; Date.now() < deadline; await delay(200)) {
    const text = await readFile(result, 'utf8').catch(() => '');
    if (text) return JSON.parse(text) as HostResult;
  }
  throw new Error(`VS Code came to no result within ${HOST_MS / 60_000} minutes`);
}

export async function vscode(): Promise<Figure[]> {
  const { size } = await stat('dist/extension.js');
  const bundle = { what: 'VS Code: entry bundle', ours: `${(size / 1000).toFixed(0)} KB`, floor: '', ratio: (size / MOST_BUNDLE).toFixed(2), target: '\u2264 300 KB', met: size <= MOST_BUNDLE };
  const workspace = await Workspace.create(EPISODES);
  try {
    return [bundle, ...(await byHand(workspace)), ...(await watched(workspace))];
  } catch (error) {
    if (!(error instanceof VsCodeMissing)) throw error;
    return [bundle, { what: 'VS Code', ours: 'not measured', floor: error.message, ratio: '', target: '', met: undefined }];
  } finally {
    await workspace.remove();
  }
}
