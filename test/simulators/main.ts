/**
 * `npm run simulate -- e2b [--env] [--port N] [--faults P] [--seed N] [--latency MS] [--concurrent N] [--creations N]`: runs a simulator of a vendor until it is
 * interrupted. `--env` prints nothing but settings for a shell to read; `--faults` gives every kind of fault this probability.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from './e2b/faults.js';
import { Simulator } from './e2b/simulator.js';

const options = { env: { type: 'boolean' }, json: { type: 'boolean' }, port: { type: 'string' }, faults: { type: 'string' }, seed: { type: 'string' }, latency: { type: 'string' }, concurrent: { type: 'string' }, creations: { type: 'string' } } as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
if (positionals.join() !== 'e2b') {
  console.error('usage: npm run simulate -- e2b [--env] [--port N] [--faults PROBABILITY] [--seed N] [--latency MS] [--concurrent N] [--creations N]');
  process.exit(2);
}
async function main(): Promise<void> {
  const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-e2b-'));
  const simulator = await Simulator.start({
    stateDir,
    port: number(values.port),
    latencyMs: number(values.latency),
    quota: { ...(values.concurrent && { concurrent: Number(values.concurrent) }), ...(values.creations && { creationsPerSecond: Number(values.creations) }) },
  });
  const probability = number(values.faults);
  if (probability) simulator.setFaults(Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, probability])), number(values.seed) ?? 1);
  const settings = Object.entries(simulator.environment);
  if (values.json) console.log(JSON.stringify(simulator.environment));
  else if (values.env) console.log(settings.map(([name, value]) => `export ${name}=${value}`).join('\n'));
  else console.log(`a simulator of E2B listens at ${simulator.url}; end it with Ctrl-C. Use it with:\n${settings.map(([name, value]) => `  export ${name}=${value}`).join('\n')}`);

  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void simulator
      .close()
      .then(() => rm(stateDir, { recursive: true, force: true }))
      .finally(() => process.exit());
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  // Whoever started it with a pipe for its input is gone when that ends.
  if (values.json) process.stdin.once('end', end).resume();
}

void main();
