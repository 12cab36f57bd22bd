/** Waits for a word, then makes runs as fast as it can. Arguments: workspace folder, how many. */
import { once } from 'node:events';
import { Layout } from '../../../src/store/layout.js';
import type { RunRecord } from '../../../src/store/records.js';
import { RunStore } from '../../../src/store/runStore.js';

async function main(root: string, count: number): Promise<void> {
  const store = new RunStore(new Layout(root));
  process.send!('ready');
  await once(process, 'message');
  for (let made = 0; made < count; made++) await store.create({ template: 'x', createdAt: Date.now() } as RunRecord);
  process.disconnect();
}

void main(process.argv[2]!, Number(process.argv[3]));
