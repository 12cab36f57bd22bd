import { strict as assert } from 'node:assert';
import { Player } from '../../../webview/traceView/player.js';

describe('the player of a trace', () => {
  it('shows no step that it waited for when it was paused, though it plays again by then', async () => {
    const waiting: (() => void)[] = [];
    const shown: number[] = [];
    let at = 3;
    const player = new Player(async (goesOn) => {
      const next = at + 1;
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (goesOn()) shown.push((at = next));
      return at < 101;
    }, () => undefined);
    player.play(() => 1000);
    player.pause();
    at = 100;
    player.play(() => 1000);
    for (const arrive of waiting.splice(0)) arrive();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([shown, player.playing], [[101], false]);
  });
});
