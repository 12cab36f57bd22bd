/** Prints what bubblewrap's check says, in a process of its own: `check.ts STATE_DIR`. */
import { createProvider } from '../../../src/sandbox/bubblewrap/index.js';

async function main(stateDir: string): Promise<void> {
  const provider = createProvider({ stateDir, log: console.error });
  console.log(JSON.stringify(await provider.check()));
  await provider.close();
}

void main(process.argv[2]!);
