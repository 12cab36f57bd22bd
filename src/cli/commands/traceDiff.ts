import type { Command } from 'commander';
import { EXIT } from '../failure.js';
import { Session, type CommonOptions } from '../session.js';
import { traceDiffReport } from '../traceDiffReport.js';
import { traceNamed } from '../travel.js';

export function addTraceDiff(trace: Command): void {
  trace
    .command('diff <a> <b>')
    .description('two traces side by side, aligned by their actions, with what differs; each is a file, or RUN:EPISODE such as latest:3')
    .action((nameA: string, nameB: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const [{ openTrace }, { alignTraces }, { comparisonOf, isDifferent, settledSoon }] = await Promise.all([import('../../trace/open.js'), import('../../trace/align.js'), import('../../engine/compareTraces.js')]);
        const { signal } = session;
        const a = await openTrace(await traceNamed(session.engine, nameA), { signal });
        try {
          const b = await openTrace(await traceNamed(session.engine, nameB), { signal });
          try {
            await settledSoon([a, b], signal);
            const alignment = await alignTraces(a, b, signal);
            const comparison = comparisonOf({ a: await a.head(), b: await b.head() }, alignment);
            const [ofA, ofB] = [await a.summaries(0, alignment.compared.a, signal), await b.summaries(0, alignment.compared.b, signal)];
            session.result({ ...comparison, list: alignment.rows }, () => traceDiffReport(comparison, alignment.rows, { a: ofA, b: ofB }));
            return alignment.rows.some(isDifferent) ? EXIT.failed : EXIT.done;
          } finally {
            await b.close();
          }
        } finally {
          await a.close();
        }
      }),
    );
}
