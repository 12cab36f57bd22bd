/**
 * `npm run simulate -- VENDOR [--env] [--memory] [--port N] [--faults P] [--seed N] [--latency MS] [--concurrent N] [--creations N]`: runs a simulator of a vendor until it is
 * interrupted. `--env` prints nothing but settings for a shell to read; with `--memory` its sandboxes are Podman's, and their memory can be copied; `--faults` gives every kind of fault this probability.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS as BEAM_FAULTS } from './beam/faults.js';
import { Simulator as BeamSimulator } from './beam/simulator.js';
import { FAULTS as E2B_FAULTS } from './e2b/faults.js';
import { Simulator as E2bSimulator } from './e2b/simulator.js';
import { openHost } from './host.js';

const VENDORS = {
  e2b: { title: 'E2B', faults: Object.keys(E2B_FAULTS), start: E2bSimulator.start },
  beam: { title: 'Beam', faults: Object.keys(BEAM_FAULTS), start: BeamSimulator.start },
};

const options = { env: { type: 'boolean' }, json: { type: 'boolean' }, memory: { type: 'boolean' }, port: { type: 'string' }, faults: { type: 'string' }, seed: { type: 'string' }, latency: { type: 'string' }, concurrent: { type: 'string' }, creations: { type: 'string' } } as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const vendor = positionals.length === 1 ? VENDORS[positionals[0] as keyof typeof VENDORS] : undefined;
if (!vendor) {
  console.error(`usage: npm run simulate -- VENDOR [--env] [--memory] [--port N] [--faults PROBABILITY] [--seed N] [--latency MS] [--concurrent N] [--creations N], where VENDOR is ${Object.keys(VENDORS).join(' or ')}`);
  process.exit(2);
}

async function main({ title, faults, start }: NonNullable<typeof vendor>): Promise<void> {
  const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const stateDir = await mkdtemp(join(tmpdir(), 'rl-simulator-'));
  const simulator = await start({
    host: await openHost(values.memory ? 'podman' : 'bubblewrap', stateDir),
    port: number(values.port),
    latencyMs: number(values.latency),
    quota: { ...(values.concurrent && { concurrent: Number(values.concurrent) }), ...(values.creations && { creationsPerSecond: Number(values.creations) }) },
  });
  const probability = number(values.faults);
  if (probability) simulator.setFaults(Object.fromEntries(faults.map((fault) => [fault, probability])), number(values.seed) ?? 1);
  const settings = Object.entries(simulator.environment);
  if (values.json) console.log(JSON.stringify(simulator.environment));
  else if (values.env) console.log(settings.map(([name, value]) => `export ${name}=${value}`).join('\n'));
  else console.log(`a simulator of ${title} listens at ${simulator.url}; end it with Ctrl-C. Use it with:\n${settings.map(([name, value]) => `  export ${name}=${value}`).join('\n')}`);

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

void main(vendor);
