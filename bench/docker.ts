/** The same run on Docker, against `docker run --rm` in a loop. */
import { Engine } from '../src/engine/engine.js';
import { loadTemplate } from '../src/template/load.js';
import { DEFAULT_IMAGE } from '../src/sandbox/docker/images.js';
import { AT_ONCE, EPISODES, HELLO, runHello } from './bubblewrap.js';
import { bareLoop, ms, sideBySide, timed, type Figure } from './measure.js';

/** Containers are slow enough that fewer rounds tell as much. */
const ROUNDS = 3;

export async function docker(root: string, episodes = EPISODES): Promise<Figure[]> {
  const engine = await Engine.open({ root });
  try {
    const health = await engine.providers.check('docker');
    const what = `Docker: ${episodes} hello episodes, ${AT_ONCE} at once`;
    if (!health.ok) return [{ what, ours: 'not measured', floor: health.summary, ratio: '', target: '≤ 0.9', met: undefined }];
    await runHello(engine, 'docker', 8, 8);
    const { run } = (await loadTemplate(HELLO)).episode;
    // As the floor has no snapshot, it makes what setup would have left.
    const words = ['docker', 'run', '--rm', '--network', 'none', DEFAULT_IMAGE, 'sh', '-c', `echo > /task.txt; echo hello > /task.txt; RL_SEED=$1\n${run}`, 'sh'];
    const loop = await sideBySide(
      ROUNDS,
      () => runHello(engine, 'docker', episodes, AT_ONCE),
      () => timed(() => bareLoop(words, episodes, AT_ONCE)),
    );
    return [{ what, ours: `${ms(loop.ours)} (${((episodes * 1000) / loop.ours).toFixed(1)}/s)`, floor: `${ms(loop.bare)} (docker run --rm, xargs -P ${AT_ONCE})`, ratio: loop.ratio.toFixed(2), target: '≤ 0.9', met: loop.ratio <= 0.9 }];
  } finally {
    await engine.close();
  }
}
