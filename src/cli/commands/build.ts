import type { Command } from 'commander';
import { bytes, milliseconds } from '../format.js';
import { providerOption } from '../options.js';
import { plain } from '../plain.js';
import { Session, type CommonOptions } from '../session.js';

interface BuildCommandOptions extends CommonOptions {
  readonly provider?: string;
  readonly rebuild?: boolean;
  readonly quiet?: boolean;
}

export function addBuild(program: Command): void {
  program
    .command('build <template>')
    .description('build the snapshot that episodes are restored from')
    .addOption(providerOption())
    .option('--rebuild', 'build even if a snapshot is there')
    .option('-q, --quiet', 'do not show the output of the build')
    .action((template: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<BuildCommandOptions>();
      return Session.run(options, async (session) => {
        const { snapshot, built, choice } = await session.engine.build(template, {
          provider: options.provider,
          rebuild: options.rebuild,
          signal: session.signal,
          onOutput: (text) => void (!options.quiet && !session.json && process.stderr.write(plain(text))),
        });
        session.result({ snapshot, built, provider: choice.provider.id, why: choice.why }, () => {
          const what = `snapshot ${snapshot.id} on ${snapshot.provider}, ${bytes(snapshot.sizeBytes)}`;
          return built ? `Built ${what} in ${milliseconds(snapshot.buildMs)}.` : `Nothing to build: ${what} is up to date.`;
        });
      });
    });
}
