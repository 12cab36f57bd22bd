/** A snapshot of memory as a person takes and restores it, on a real Podman with a real CRIU: `out/screens/memory-*.png`; some of them are in `media/screens`. */
import { ensurePodman, type PodmanForTests } from '../../scripts/setup/podman.mjs';
import { sees } from '../support/sees.js';
import { skip } from '../support/skip.js';
import { PICTURED, takePicture } from './pictures.js';
import { tellStory } from './story.js';
import type { Workspace } from './workspace.js';

const SIZE = { width: 1280, height: 1000 };
/** How often it was asked is nowhere but in its memory. */
const COUNTER = `import socket
server = socket.create_server(("127.0.0.1", 7070))
count = 0
while True:
    caller, _ = server.accept()
    count += 1
    caller.sendall(b"asked %d times\\n" % count)
    caller.close()
`;
const template = (image: string) => `name: counter
provider: podman
image: ${image}
files:
  - {from: counter.py, to: /srv/}
setup:
  - run: printf '%s\\n' '#!/bin/bash' 'cat </dev/tcp/127.0.0.1/7070' > /usr/bin/ask && chmod 755 /usr/bin/ask
services:
  - name: counter
    run: exec python3 /srv/counter.py
    ready: {port: 7070}
episode: {run: ask}
reward: stdout
`;

describe('a memory snapshot in VS Code', function () {
  this.timeout(240_000);
  let podman: PodmanForTests | undefined;
  before(async function () {
    podman = await ensurePodman();
    const obstacle = podman.missing ?? podman.noCheckpoints;
    if (obstacle !== undefined) skip(this, obstacle);
    process.env.CONTAINER_HOST = podman.host;
  });
  after(() => podman?.stop());
  const prepare = async (workspace: Workspace) => {
    await workspace.write('counter.py', COUNTER);
    await workspace.write('counter.rlenv.yaml', template(podman!.baseImage!));
    await workspace.settings({ ...PICTURED, 'terminal.integrated.defaultLocation': 'editor' });
  };
  const story = tellStory(1, { extension: process.cwd(), viewport: SIZE, prepare });

  const picture = (name: string) => takePicture(story.code.page, `memory-${name}`, SIZE);
  const item = (name: RegExp) => story.code.page.getByRole('treeitem', { name });
  const sandboxes = () => item(/^Sandbox counter-\w{4}, /);
  const snapshot = () => item(/^Snapshot counting, memory, /);
  const output = () => story.code.page.locator('.pane-body.output-view .view-lines, .output-view-content .view-lines').first();
  const group = (index: number) => story.code.page.locator('.editor-group-container').nth(index);
  const ask = async (index: number, answer: string) => {
    await group(index).locator('.xterm-helper-textarea').last().focus();
    await story.code.page.keyboard.type('ask');
    await story.code.page.keyboard.press('Enter');
    await group(index).locator('.xterm-rows').filter({ hasText: answer }).waitFor();
  };

  it('is taken of a sandbox with a server that has been asked three times', async () => {
    const { workbench, code } = story;
    await workbench.openView();
    await workbench.choose(workbench.template('counter'), 'Open Sandbox');
    await workbench.expand(sandboxes().first());
    await item(/^Service counter, ready/).waitFor();
    await workbench.choose(sandboxes().first(), 'Run Command in Sandbox...');
    await workbench.answerInput('ask; ask; ask');
    await output().filter({ hasText: /asked.3.times/ }).filter({ hasText: /exit.code.0/ }).waitFor();
    await workbench.choose(sandboxes().first(), 'Create Snapshot...');
    await code.page.getByRole('option', { name: /Memory/ }).waitFor();
    await picture('kinds');
    await workbench.answerInput('Memory');
    await code.page.getByPlaceholder('', { exact: true }).or(code.page.getByText('A name for it')).first().waitFor();
    await workbench.answerInput('counting');
    await workbench.expand(workbench.template('counter'));
    await snapshot().waitFor();
    await picture('row');
  });

  it('is restored twice: each goes on from there by itself, and so does the one that it was taken of', async () => {
    const { workbench } = story;
    await workbench.command('View: Hide Panel');
    for (const count of [2, 3]) {
      await workbench.press(snapshot(), 'Open Sandbox');
      await sees(() => sandboxes().count(), count);
      if (count === 3) await workbench.command('View: New Editor Group to the Right');
      await workbench.press(sandboxes().nth(count - 1), 'Open Terminal in Sandbox');
      await group(count - 2).locator('.xterm-rows').filter({ hasText: /[#$]/ }).waitFor();
    }
    await ask(0, 'asked 4 times');
    await ask(0, 'asked 5 times');
    await ask(1, 'asked 4 times');
    await picture('restored');
    await workbench.choose(sandboxes().first(), 'Run Command in Sandbox...');
    await workbench.answerInput('ask');
    await output().filter({ hasText: /asked.4.times/ }).waitFor();
  });

  it('is not deleted while sandboxes live on it, and goes once they are gone', async () => {
    const { workbench, code } = story;
    await workbench.choose(snapshot(), 'Delete Snapshot');
    await workbench.answer('Delete');
    await workbench.showNotifications();
    await workbench.notifications.filter({ hasText: /Failed to delete snapshot counting: .*in use/ }).waitFor();
    await code.page.keyboard.press('Escape');
    await workbench.command('RL Sandboxes: Terminate All Sandboxes');
    await workbench.answer('Terminate All');
    await sandboxes().first().waitFor({ state: 'detached' });
    await workbench.choose(snapshot(), 'Delete Snapshot');
    await workbench.answer('Delete');
    await snapshot().waitFor({ state: 'detached' });
  });
});
