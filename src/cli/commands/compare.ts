import type { Command } from 'commander';
import { compareReport } from '../compareReport.js';
import { UsageError } from '../failure.js';
import { Session, type CommonOptions } from '../session.js';

/** Seeds in the report: those that lost most, and those that gained most. */
const EXTREMES = 5;

export function addCompare(program: Command): void {
  program
    .command('compare <a> <b>')
    .description('two runs over the same seeds: by how much b is better than a, seed by seed, and whether that could be chance; <a> and <b> are ids, numbers, or "latest"')
    .action((nameA: string, nameB: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const { engine } = session;
        const [a, b] = [await engine.runs.find(nameA), await engine.runs.find(nameB)];
        if (a.id === b.id) throw new UsageError(`"${nameA}" and "${nameB}" are the same run`);
        const { RunComparisons } = await import('../../engine/compareRuns.js');
        const runs = new RunComparisons();
        const comparison = await runs.compare(engine, a.id, b.id);
        const extremes = async (kind: 'worse' | 'better') => (await runs.pairs(engine, a.id, b.id, { kind, sort: 'delta', descending: kind === 'better', start: 0, count: EXTREMES })).pairs;
        const seeds = session.json ? (await runs.pairs(engine, a.id, b.id, { sort: 'seed', descending: false, start: 0, count: Infinity })).pairs : [];
        const [worse, better] = [await extremes('worse'), await extremes('better')];
        session.result({ ...comparison, seeds }, () => compareReport(comparison, { worse, better }));
      }),
    );
}
