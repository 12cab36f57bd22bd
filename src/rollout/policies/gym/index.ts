/** A Gymnasium environment inside the sandbox, driven step by step from outside. */
import type { Content } from '../../../trace/events.js';
import type { Stage, StepResult } from '../../stage.js';
import { openPlayer, type Player } from '../player.js';
import { EpisodeLimit, settingsOf, type Ending, type PolicyKind } from '../policy.js';
import { GymDriver, type Beginning, type Transition } from './driver.js';
import { resultOf, seen } from './record.js';

type Choice = { readonly random: true } | { readonly action: Content } | undefined;
/** Chooses the next action by what was seen last; `undefined` if there are no more. */
type Chooser = (last: Beginning | Transition, stage: Stage) => Choice | Promise<Choice>;

export const gym: PolicyKind = (request) => {
  const settings = settingsOf(request.template, 'gym');
  const { actions, env, vector = 0, max_steps: maxSteps } = settings;
  const player = typeof actions === 'object' && 'command' in actions ? openPlayer(actions, request) : undefined;
  return {
    description: { name: 'gym', env, kwargs: settings.kwargs, actions, ...(settings.render ? { render: settings.render } : {}), ...(vector ? { vector } : {}), maxSteps },
    ...(player ? { close: () => player.close() } : {}),
    act: async (stage) => {
      const { seed } = stage.id;
      const driver = new GymDriver(stage);
      const seat = await player?.sit(stage.options);
      try {
        const spaces = await driver.make({ env, kwargs: settings.kwargs, render: settings.render ?? null, vector, seed });
        const choose = chooser(actions, seat);
        if (vector > 0) return await playVector(stage, driver, spaces, choose, maxSteps);
        return await playOne(stage, driver, spaces, choose, maxSteps);
      } finally {
        await seat?.leave();
        if (!stage.signal.aborted) await driver.close();
      }
    },
  };
};

type Actions = 'random' | { readonly constant: unknown } | { readonly script: readonly unknown[] } | { readonly command: readonly string[] };
type Spaces = NonNullable<StepResult['spaces']>;
type Seat = Awaited<ReturnType<Player['sit']>>;

function chooser(actions: Actions, seat: Seat | undefined): Chooser {
  if (actions === 'random') return () => ({ random: true });
  if ('constant' in actions) return () => ({ action: actions.constant as Content });
  if ('script' in actions) {
    let next = 0;
    return () => (next < actions.script.length ? { action: actions.script[next++] as Content } : undefined);
  }
  return async (last) => {
    const { frames: _, ...seen } = last;
    const action = await seat!.act(seen);
    return action === undefined ? undefined : { action };
  };
}

async function playOne(stage: Stage, driver: GymDriver, spaces: Spaces, choose: Chooser, maxSteps: number): Promise<Ending> {
  let last: Beginning | Transition | undefined;
  await stage.step({ kind: 'none' }, async () => {
    [last] = await driver.reset(stage.id.seed);
    return { ...seen(stage.trace, last!), spaces };
  }, 0);
  for (let step = 1; ; step++) {
    if (step > maxSteps) throw new EpisodeLimit('max_steps', `took ${maxSteps} steps and did not end`);
    const choice = await choose(last!, stage);
    if (choice === undefined) return { status: 'completed' };
    const transition = await takeStep(stage, driver, choice);
    last = transition;
    if (transition.terminated) return { status: 'completed' };
    if (transition.truncated) throw new EpisodeLimit('time_limit', 'was truncated by its environment');
  }
}

/** What is recorded as action is what the environment was given: known before the step, but for a random one. */
async function takeStep(stage: Stage, driver: GymDriver, choice: NonNullable<Choice>): Promise<Transition> {
  const [at, start, step] = [Date.now(), performance.now(), stage.steps + 1];
  if ('action' in choice) {
    let given: Transition | undefined;
    await stage.step({ kind: 'value', value: stage.trace.content(choice.action) }, async () => {
      [given] = await driver.step(choice);
      return resultOf(stage, given!);
    });
    return given!;
  }
  const [given] = await driver.step(choice);
  const ms = Math.round((performance.now() - start) * 1000) / 1000;
  stage.record({ at, ms, step, action: { kind: 'value', value: stage.trace.content(given!.action) } }, resultOf(stage, given!));
  await stage.trace.drained();
  return given!;
}

/**
 * Each environment of a vector is an episode of its own: recorded until it ends, as a lane of the trace, and not after, whatever the vector does
 * with it. The return is the mean over the lanes.
 */
async function playVector(stage: Stage, driver: GymDriver, spaces: Spaces, choose: Chooser, maxSteps: number): Promise<Ending> {
  let at = Date.now();
  let start = performance.now();
  const elapsed = () => Math.round((performance.now() - start) * 1000) / 1000;
  const beginnings = await driver.reset(stage.id.seed);
  beginnings.forEach((each, lane) => stage.record({ at, ms: elapsed(), step: 0, lane, action: { kind: 'none' } }, { ...seen(stage.trace, each), spaces }));
  const lanes = beginnings.map(() => ({ steps: 0, return: 0, ended: false }));
  let truncated = 0;
  while (lanes.some(({ ended }) => !ended)) {
    if (stage.steps >= maxSteps) throw new EpisodeLimit('max_steps', `took ${maxSteps} steps and did not end`);
    [at, start] = [Date.now(), performance.now()];
    const choice = await choose(beginnings[0]!, stage);
    if (choice === undefined) break;
    const transitions = await driver.step(choice);
    for (const [index, transition] of transitions.entries()) {
      const lane = lanes[index]!;
      if (lane.ended) continue;
      lane.steps += 1;
      const { reward, ...rest } = resultOf(stage, transition);
      stage.record({ at, ms: elapsed(), step: lane.steps, lane: index, action: { kind: 'value', value: stage.trace.content(transition.action) } }, { reward, ...rest });
      lane.return += reward ?? NaN;
      lane.ended = transition.terminated || transition.truncated;
      if (transition.truncated) truncated += 1;
    }
    stage.steps = Math.max(...lanes.map(({ steps }) => steps));
    stage.return = lanes.reduce((sum, lane) => sum + lane.return, 0) / lanes.length;
    await stage.trace.drained();
  }
  if (truncated > 0) throw new EpisodeLimit('time_limit', `was truncated by its environment in ${truncated} of ${lanes.length} lanes`);
  return { status: 'completed' };
}
