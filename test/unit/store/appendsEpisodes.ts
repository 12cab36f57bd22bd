/** Appends three records to a log of episodes, the second of 2 MiB, and prints what came of each. */
import { EpisodeLog } from '../../../src/store/episodeLog.js';
import type { EpisodeRecord } from '../../../src/store/records.js';

async function main(file: string): Promise<void> {
  const log = await EpisodeLog.open(file);
  const outcomes: string[] = [];
  for (const [episode, size] of [10, 2 << 20, 10].entries())
    outcomes.push(await log.append({ episode, cause: 'x'.repeat(size) } as EpisodeRecord).then(() => 'kept', (error: NodeJS.ErrnoException) => error.code!));
  await log.close();
  process.stdout.write(outcomes.join(' '));
}

void main(process.argv[2]!);
