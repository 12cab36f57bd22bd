/** Runs: begun, followed, read, removed. */
import { RunComparisons } from '../../engine/compareRuns.js';
import { estimate, estimateFork, estimateOf } from '../../engine/estimate.js';
import { exportSelection } from '../../engine/exportSelection.js';
import type { LiveRun, LiveRunEvents } from '../../engine/liveRun.js';
import type { HandlersOf, Services } from './handlers.js';

type RunRequests = 'run/start' | 'run/estimate' | 'run/estimateAgain' | 'run/estimateFork' | 'run/resume' | 'run/rerun' | 'run/replay' | 'run/fork' | 'episode/act' | 'run/cancel' | 'run/delete' | 'run/list' | 'run/snapshot' | 'run/rows' | 'run/groups' | 'run/compare' | 'run/pairs' | 'run/episode' | 'run/export';

export function runHandlers(services: Services): HandlersOf<RunRequests> {
  /** Events of a run become notices: of the run itself, of the list when its state changes, of what it makes and ends. */
  const events = (root: string, file: () => string): LiveRunEvents => {
    let state = '';
    return {
      onOutput: (text) => services.notify('build/output', { root, file: file(), text }),
      onChange: (live) => {
        services.changed(root, 'run', live.record.id);
        services.changed(root, 'sandboxes');
        if (live.record.state === state) return;
        state = live.record.state;
        services.changed(root, 'runs');
        services.changed(root, 'snapshots');
      },
    };
  };

  const begun = (root: string, live: LiveRun): { id: string } => {
    void live.ended.then((run) => {
      services.changed(root, 'run', run.id);
      services.changed(root, 'runs');
      services.changed(root, 'sandboxes');
    });
    return { id: live.record.id };
  };

  const comparisons = new RunComparisons();

  return {
    'run/start': async ({ root, file, options }, call) => begun(root, await (await services.engine(root, call)).start(file, options, events(root, () => file))),
    'run/estimate': async ({ root, file, options }, call) => estimate(await services.engine(root, call), file, options),
    'run/estimateAgain': async ({ root, id, which, maxCost }, call) => estimateOf(await services.engine(root, call), id, which, maxCost),
    'run/estimateFork': async ({ root, trace, step, options }, call) => estimateFork(await services.engine(root, call), { ...options, trace, step }),
    'run/resume': async ({ root, id, maxCost }, call) => {
      const live: LiveRun = await (await services.engine(root, call)).resume(id, events(root, () => live.record.file), { maxCost });
      return begun(root, live);
    },
    'run/rerun': async ({ root, id, only }, call) => {
      const live: LiveRun = await (await services.engine(root, call)).rerun(id, only, events(root, () => live.record.file));
      return begun(root, live);
    },
    'run/replay': async ({ root, id, episode }, call) => {
      const live: LiveRun = await (await services.engine(root, call)).replay(id, episode, events(root, () => live.record.file));
      return begun(root, live);
    },
    'run/fork': async ({ root, trace, step, options }, call) => {
      const live: LiveRun = await (await services.engine(root, call)).fork({ ...options, trace, step }, events(root, () => live.record.file));
      return begun(root, live);
    },
    'episode/act': async ({ root, id, episode, action }, call) => (await services.engine(root, call)).act(id, episode, action),
    'run/cancel': async ({ root, id }, call) => {
      await (await services.engine(root, call)).cancel(id);
      return null;
    },
    'run/delete': async ({ root, id }, call) => {
      await (await services.engine(root, call)).deleteRun(id);
      services.changed(root, 'runs');
      return null;
    },
    'run/list': async ({ root }, call) => (await services.engine(root, call)).list(),
    'run/snapshot': async ({ root, id }, call) => (await services.engine(root, call)).snapshot(id),
    'run/rows': async ({ root, id, query }, call) => (await services.engine(root, call)).rows(id, query),
    'run/groups': async ({ root, id, query }, call) => (await services.engine(root, call)).groups(id, query),
    'run/compare': async ({ root, a, b }, call) => comparisons.compare(await services.engine(root, call), a, b),
    'run/pairs': async ({ root, a, b, query }, call) => comparisons.pairs(await services.engine(root, call), a, b, query),
    'run/episode': async ({ root, id, episode }, call) => (await services.engine(root, call)).episode(id, episode),
    'run/export': async ({ root, id, format, selection, path }, call) => {
      const engine = await services.engine(root, call);
      return exportSelection(engine.layout, await engine.record(id), format, selection, path, call.signal);
    },
  };
}
