import { resolve } from 'node:path';
import type { Command } from 'commander';
import { changesOfSnapshot } from '../../engine/snapshots/changes.js';
import { deleteSnapshot, listSnapshots, pruneSnapshots } from '../../engine/snapshots/manage.js';
import { takeSnapshot } from '../../engine/snapshots/take.js';
import { exportSnapshot, importSnapshot } from '../../engine/snapshots/transfer.js';
import type { SnapshotRecord } from '../../store/records.js';
import { parseDuration, parseSize } from '../../template/units.js';
import { UsageError } from '../failure.js';
import { bytes, columns, plural, NONE } from '../format.js';
import { oneLine } from '../plain.js';
import { providerOption } from '../options.js';
import { snapshotHeld } from '../runnerConnection.js';
import { Session, type CommonOptions } from '../session.js';
import { exec, isTemplate, open, type SandboxOptions } from './sandboxes.js';

interface CreateOptions extends SandboxOptions {
  readonly memory?: boolean;
  readonly name?: string;
}

interface PruneOptions extends CommonOptions {
  readonly olderThan?: string;
  readonly keep?: string;
  readonly replaced?: boolean;
  readonly dryRun?: boolean;
}

export function addSnapshots(program: Command): void {
  const snapshot = program.command('snapshot').description('snapshots: taken, what there is, out into a file, in from one, away');

  snapshot
    .command('list')
    .description('snapshots, newest first, with what each takes on disk alone')
    .action((_options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const list = await listSnapshots(session.engine);
        session.result(list, () => {
          if (list.snapshots.length === 0) return `no snapshots in ${session.engine.layout.base}`;
          const rows = list.snapshots.map(({ id, template, name, origin, kind, provider, ownBytes, exists, stale, pinned, parent, createdAt }) => [
            id,
            template,
            oneLine(name ?? '', 40),
            provider,
            exists === false ? 'gone' : ownBytes === undefined ? NONE : bytes(ownBytes),
            [...(kind === 'memory' ? ['memory'] : []), origin === 'sandbox' ? `of ${parent ?? 'a sandbox'}` : (origin ?? 'build'), ...(pinned ? ['pinned'] : []), ...(stale.length ? [`stale: ${stale.join(', ')}`] : [])].join('; '),
            new Date(createdAt).toISOString().slice(0, 16).replace('T', ' '),
          ]);
          return [columns([['id', 'template', 'name', 'provider', 'size', '', 'made (UTC)'], ...rows]), `${bytes(list.totalBytes)} in all`].join('\n');
        });
      }),
    );

  snapshot
    .command('create <template> [command...]')
    .description('takes one of a sandbox of a template (built if needed) or snapshot, when a command in it has ended: `create TEMPLATE -- COMMAND`; or of a live sandbox of an editor, by its id')
    .option('--memory', 'of its processes too: what the command leaves running goes on in every sandbox that is restored')
    .option('--name <name>', 'what it is called')
    .addOption(providerOption())
    .action((what: string, argv: string[], _options: unknown, command: Command) => {
      const { memory, name, ...options } = command.optsWithGlobals<CreateOptions>();
      return Session.run(options, async (session) => {
        const kind = memory ? 'memory' : 'filesystem';
        const taken = (record: SnapshotRecord): void => session.result({ snapshot: record }, () => `${memory ? 'memory ' : ''}snapshot ${record.id} of ${record.template} on ${record.provider}, ${bytes(record.sizeBytes)}`);
        // In one that somebody works in nothing is run from here.
        if (argv.length === 0 && !isTemplate(what) && !(await isSnapshot(session, what))) {
          const record = await snapshotHeld(session, what, { kind, name });
          if (record) return taken(record);
        }
        const held = await open(session, what, options);
        const code = argv.length === 0 ? 0 : await exec(held, argv, session, process.stderr);
        if (code !== 0) throw new Error(`no snapshot was taken: the command ended with exit code ${code}`);
        taken(await takeSnapshot(session.engine, held.sandbox, held.making, kind, { name }, session.signal));
      });
    });

  snapshot
    .command('changes <id>')
    .description('the files that are other in it than in the one that it was made from: A added, M modified, R removed')
    .action((id: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const found = await changesOfSnapshot(session.engine, id, session.signal);
        session.result({ id, ...found }, () => found.changes.map(({ kind, path }) => `${kind[0]!.toUpperCase()} ${oneLine(path, 1000)}`).join('\n') || `no file is another one than in ${found.parent}`);
      }),
    );

  snapshot
    .command('export <id> <file>')
    .description('one snapshot as one file')
    .action((id: string, file: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const size = await exportSnapshot(session.engine, id, file, session.signal);
        session.result({ id, file: resolve(file), bytes: size }, () => `${bytes(size)} in ${file}`);
      }),
    );

  snapshot
    .command('import <file>')
    .description('takes in what `snapshot export` wrote, here or elsewhere')
    .action((file: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const record = await importSnapshot(session.engine, file, session.signal);
        session.result({ snapshot: record }, () => `snapshot ${record.id} of ${record.template} on ${record.provider}, ${bytes(record.sizeBytes)}`);
      }),
    );

  snapshot
    .command('delete <id>')
    .description('removes one, unless a run or a sandbox needs it')
    .action((id: string, _options: unknown, command: Command) =>
      Session.run(command.optsWithGlobals<CommonOptions>(), async (session) => {
        const usedBy = await deleteSnapshot(session.engine, id);
        session.result({ id, usedBy }, () => `deleted ${id}${usedBy.length ? `, which ${usedBy.length === 1 ? 'run' : 'runs'} ${usedBy.map(({ number }) => `#${number}`).join(', ')} used` : ''}`);
      }),
    );

  snapshot
    .command('prune')
    .description('removes those that are neither pinned nor in use, oldest first')
    .option('--older-than <duration>', 'only those made longer ago, such as 720h')
    .option('--keep <size>', 'only until those that stay take no more, such as 10Gi')
    .option('--replaced', 'only builds that a newer one of the same template has replaced')
    .option('--dry-run', 'say what would go, remove nothing')
    .action((_options: unknown, command: Command) => {
      const { olderThan, keep, replaced, dryRun, ...options } = command.optsWithGlobals<PruneOptions>();
      return Session.run(options, async (session) => {
        const olderThanMs = parsed('--older-than', olderThan, parseDuration, '720h');
        const keepBytes = parsed('--keep', keep, parseSize, '10Gi');
        const report = await pruneSnapshots(session.engine, { olderThanMs, keepBytes, replaced, dryRun });
        session.result({ ...report, dryRun: dryRun ?? false }, () => {
          const freed = report.removed.reduce((sum, each) => sum + each.bytes, 0);
          return [`${plural(report.removed.length, 'snapshot')}  ${bytes(freed)}`, ...report.kept.map(({ id, why }) => `kept ${id}: ${why}`)].join('\n');
        });
      });
    });
}

const isSnapshot = (session: Session, id: string): Promise<boolean> => session.engine.snapshots.find(id).then(() => true, () => false);

function parsed(option: string, text: string | undefined, parse: (text: string) => number | undefined, example: string): number | undefined {
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === undefined) throw new UsageError(`${option} ${text}: expected something such as \`${example}\``);
  return value;
}
