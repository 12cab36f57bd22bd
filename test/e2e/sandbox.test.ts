/** One sandbox from its opening to its end, as a person works in it, and its snapshots: `out/screens/sandbox-*.png` show each step; some of them are in `media/screens`. */
import assert from 'node:assert/strict';
import { sees } from '../support/sees.js';
import { PICTURED, takePicture } from './pictures.js';
import { tellStory } from './story.js';

const PORT = 8123;
/** High enough for all that is beneath a sandbox. */
const SIZE = { width: 1280, height: 1200 };
const HELLO = `name: hello
setup:
  - run: echo "Print a number between 0 and 1." > /task.txt
env: {PYTHONDONTWRITEBYTECODE: "1"}
services:
  - name: tasks
    run: cd /tmp && exec python3 -B -u -m http.server ${PORT}
    ready: {port: ${PORT}}
episode:
  seeds: 4
  run: echo "0.$RL_SEED"
reward: stdout
`;

const COUNT = `task = open('/task.txt').read()
print(len(task.splitlines()), 'lines:')
print(task)
`;

describe('a live sandbox in VS Code', function () {
  this.timeout(240_000);
  const story = tellStory(4, { extension: process.cwd(), viewport: SIZE }, { hello: HELLO });

  const picture = (name: string) => takePicture(story.code.page, `sandbox-${name}`, SIZE);
  const item = (name: RegExp) => story.code.page.getByRole('treeitem', { name });
  const snapshot = (name: string) => item(new RegExp(`^Snapshot ${name}, `)).first();
  const sandboxes = () => item(/^Sandbox hello-\w{4}, /);
  const fold = (view: string) => story.code.page.locator('.pane-header').filter({ hasText: view }).click();
  const rows = () => story.code.page.locator('.terminal-wrapper.active .xterm-rows');
  const type = async (text: string) => {
    await story.code.page.locator('.terminal-wrapper.active .xterm-helper-textarea').focus();
    await story.code.page.keyboard.type(text);
    await story.code.page.keyboard.press('Enter');
  };
  const output = () => story.code.page.locator('.pane-body.output-view .view-lines, .output-view-content .view-lines').first();

  /** A picture of the menu of an item. A menu is closed by a window of another size. */
  const menu = async (name: string, of: ReturnType<typeof item>, entry: string, height: number) => {
    const { page } = story.code;
    await of.click({ button: 'right' });
    await page.getByRole('menuitem', { name: entry, exact: true }).hover();
    await page.screenshot({ path: `out/screens/sandbox-${name}.png`, clip: { x: 0, y: 0, width: 640, height } });
    await page.keyboard.press('Escape');
  };

  before(async () => {
    await story.workspace.settings(PICTURED);
    await story.workspace.write('count.py', COUNT);
  });

  it('opens from a template', async () => {
    const { workbench } = story;
    await workbench.openView();
    await workbench.choose(workbench.template('hello'), 'Open Sandbox');
    await sandboxes().filter({ hasText: /\d (B|KB|MB)/ }).waitFor();
    await picture('open');
    await story.code.page.getByRole('button', { name: 'Runs Section' }).click();
  });

  it('has a terminal that answers, is told of its size, and can be interrupted', async () => {
    const { code, workbench } = story;
    await workbench.press(sandboxes().first(), 'Open Terminal in Sandbox');
    await rows().filter({ hasText: /[#$]/ }).waitFor();
    await type('echo answer-$((40+2))');
    await rows().filter({ hasText: 'answer-42' }).waitFor();
    const columns = async (mark: string) => {
      await type(`clear; echo ${mark}=$(stty size)=`);
      await rows().filter({ hasText: new RegExp(`${mark}=\\d+.\\d+=`) }).waitFor();
      return Number(new RegExp(`${mark}=\\d+\\D(\\d+)=`).exec(await rows().innerText())![1]);
    };
    const wide = await columns('wide');
    await code.page.setViewportSize({ width: 900, height: SIZE.height });
    let narrow = wide;
    for (let round = 0; narrow === wide && round < 10; round += 1) narrow = await columns(`narrow${round}`);
    await code.page.setViewportSize(SIZE);
    assert.ok(narrow < wide, `${wide} columns, then ${narrow}`);
    await type('clear; echo beg""un; sleep 600; echo not""reached');
    await rows().filter({ hasText: 'begun' }).waitFor();
    await code.page.keyboard.press('Control+C');
    await type('echo again-$((1+1))');
    await rows().filter({ hasText: 'again-2' }).waitFor();
    assert.doesNotMatch(await rows().innerText(), /notreached/);
    await type('clear');
    await type('cat /task.txt; id -un; ls -d /s*');
    await rows().filter({ hasText: '/srv' }).waitFor();
    await picture('terminal');
    await type('clear');
  });

  it('has its files in the view: one is opened, changed, saved, and read back by a command', async () => {
    const { code, workbench } = story;
    await workbench.expand(sandboxes().first());
    await workbench.expand(item(/^Files of sandbox hello-/));
    await item(/^File task\.txt, /).click();
    const tab = code.page.getByRole('tab', { name: /^task\.txt/ });
    await tab.waitFor();
    const editor = code.page.locator('.editor-instance .monaco-editor').first();
    await editor.filter({ hasText: 'Print a number' }).click();
    await code.page.keyboard.press('Control+End');
    await code.page.keyboard.type('Changed in an editor.');
    await code.page.keyboard.press('Control+S');
    await code.page.locator('.tab.dirty').waitFor({ state: 'detached' });
    await picture('files');
    await workbench.command('RL Sandboxes: Run Command in Sandbox...');
    await workbench.answerInput('cat /task.txt; printf "\\033[31mred\\033[0m\\n"; exit 3');
    // The escapes of the colour are gone.
    await output().filter({ hasText: 'Changed in an editor.red' }).filter({ hasText: /exit.code.3/ }).waitFor();
  });

  it('runs the code that is selected in an editor of this machine', async () => {
    const { code, workbench } = story;
    await workbench.openFile('count.py');
    const editor = code.page.locator('.editor-group-container.active .monaco-editor').filter({ hasText: 'task.txt' });
    await editor.click();
    await code.page.keyboard.press('Control+A');
    await workbench.command('RL Sandboxes: Run Selection in Sandbox');
    await output().filter({ hasText: /2.lines.*Changed.in.an.editor/s }).filter({ hasText: /exit.code.0/ }).waitFor();
    await picture('selection');
    await workbench.command('View: Close Editor');
  });

  it('has a service of its template, whose log is shown, and whose port leads to this machine', async () => {
    const { workbench } = story;
    const port = item(new RegExp(`^Port ${PORT}, `));
    await port.waitFor();
    await workbench.choose(port, 'Forward Port');
    await port.filter({ hasText: /localhost:\d+/ }).waitFor();
    const local = /localhost:(\d+)/.exec(await port.innerText())![1];
    assert.equal((await fetch(`http://127.0.0.1:${local}/`)).status, 200);
    await item(/^Service tasks, ready/).click();
    await output().filter({ hasText: /GET.\/.HTTP/ }).waitFor();
    await picture('services');
    await workbench.choose(port, 'Stop Forwarding');
    await port.filter({ hasNotText: /localhost/ }).waitFor();
  });

  it('is compared with its template, file by file', async () => {
    const { code, workbench } = story;
    await workbench.command('View: Hide Panel');
    await workbench.choose(sandboxes().first(), 'Compare with Template');
    await code.page.getByRole('tab', { name: /task\.txt \(hello-|changes to its template/ }).waitFor();
    await code.page.locator('.monaco-diff-editor').filter({ hasText: 'Changed in an editor.' }).first().waitFor();
    await picture('compare');
    await workbench.command('View: Close All Editors');
  });

  it('shows its processor and memory', async () => {
    const { code, workbench } = story;
    await code.page.keyboard.press('Control+`');
    await type('(timeout 10 sh -c "while :; do :; done" &)');
    await workbench.command('View: Hide Panel');
    await workbench.choose(sandboxes().first(), 'Show Processor and Memory');
    const frame = code.page.frameLocator('iframe.webview.ready:visible').last().frameLocator('iframe#active-frame');
    await frame.getByRole('heading', { name: 'Memory' }).waitFor();
    await frame.locator('rl-usage-chart').last().filter({ hasText: /MB/ }).waitFor();
    for (const now of [/^Processor .*now [1-9]/, /^Processor .*now 0/]) await frame.getByRole('img', { name: now }).waitFor();
    await picture('monitor');
    await workbench.command('View: Close All Editors');
  });

  it('is snapshotted, and the snapshot stands under its template, with a menu', async () => {
    const { code, workbench } = story;
    await workbench.choose(sandboxes().first(), 'Create Snapshot...');
    await workbench.answerInput('with-a-change');
    await workbench.expand(workbench.template('hello'));
    const snapshot = item(/^Snapshot with-a-change, /);
    await workbench.choose(snapshot, 'Pin Snapshot');
    await snapshot.and(code.page.getByRole('treeitem', { name: /pinned/ })).waitFor();
    await menu('snapshots', snapshot, 'Compare with Parent', 440);
  });

  it('has changed against what the snapshot was made from, which is shown file by file', async () => {
    const { code, workbench } = story;
    await workbench.choose(item(/^Snapshot with-a-change, /), 'Compare with Parent');
    await code.page.getByRole('tab', { name: /task\.txt \(with-a-change\)|with-a-change: changes to its parent/ }).waitFor();
    await code.page.locator('.monaco-diff-editor').filter({ hasText: 'Changed in an editor.' }).last().waitFor();
    await picture('snapshot-compare');
  });

  it('is forked, and restored from the snapshot', async () => {
    const { workbench } = story;
    await menu('menu', sandboxes().first(), 'Fork Sandbox', 800);
    await workbench.choose(sandboxes().first(), 'Fork Sandbox');
    await sandboxes().filter({ hasText: 'fork' }).waitFor();
    await sees(() => sandboxes().count(), 2);
    await workbench.press(item(/^Snapshot with-a-change, /), 'Open Sandbox');
    await sandboxes().nth(2).waitFor();
    await workbench.choose(sandboxes().nth(2), 'Run Command in Sandbox...');
    await workbench.answerInput('tail -c 21 /task.txt');
    await output().filter({ hasText: 'Changed in an editor.' }).filter({ hasText: /exit.code.0/ }).waitFor();
    await picture('fork');
  });

  it('stays for as long as a person says, and tells when it expires', async () => {
    const { code, workbench } = story;
    await workbench.choose(sandboxes().nth(1), 'Keep Warm...');
    await code.page.getByRole('option', { name: 'Until it is terminated' }).waitFor();
    await picture('keep');
    await workbench.answerInput('5 min');
    await sandboxes().filter({ hasText: /expires in [45] min/ }).waitFor();
  });

  it('leaves snapshots that are named, annotated, traced back, and marked when their template changes', async () => {
    const { code, workbench, workspace } = story;
    await workbench.command('View: Hide Panel');
    await workbench.command('View: Close All Editors');
    await workbench.choose(snapshot('with-a-change'), 'Rename Snapshot...');
    await workbench.answerInput('edited');
    await workbench.choose(snapshot('edited'), 'Edit Note on Snapshot...');
    await workbench.answerInput('One line more than the task has.');
    await workspace.write('hello.rlenv.yaml', HELLO.replace('a number', 'one number'));
    await snapshot('edited').filter({ hasText: 'stale: setup changed' }).waitFor();
    await fold('Snapshots');
    await fold('Sandboxes');
    await workbench.choose(snapshot('edited'), 'Show Lineage of Snapshot');
    await code.page.getByRole('option', { name: /edited/ }).waitFor();
    await picture('lineage');
    await code.page.keyboard.press('Escape');
    await workbench.command('RL Sandboxes: Prune Snapshots...');
    await code.page.getByRole('option', { name: 'All that are not pinned' }).waitFor();
    await picture('prune');
    await code.page.keyboard.press('Escape');
    await fold('Sandboxes');
    await fold('Snapshots');
  });

  it('is terminated, and so are all others', async () => {
    const { code, workbench } = story;
    await workbench.press(sandboxes().nth(1), 'Terminate Sandbox');
    await picture('terminate');
    await code.page.getByRole('button', { name: 'Terminate', exact: true }).click();
    await sandboxes().nth(2).waitFor({ state: 'detached' });
    // The one that was clicked is the one that is gone.
    await sees(() => sandboxes().filter({ hasText: 'fork' }).count(), 0);
    await workbench.command('RL Sandboxes: Terminate All Sandboxes');
    await code.page.getByRole('button', { name: 'Terminate All', exact: true }).click();
    await sandboxes().first().waitFor({ state: 'detached' });
    await picture('end');
  });
});
