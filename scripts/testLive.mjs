// `npm run test:live -- PROVIDER [--grep PATTERN]`: the suite that every provider passes, against a service itself, with the key in the environment.
import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const KEYS = { e2b: 'E2B_API_KEY', beam: 'BEAM_TOKEN' };
const [provider, ...more] = process.argv.slice(2);
const key = KEYS[provider];
if (!key) {
  console.error(`usage: npm run test:live -- PROVIDER [--grep PATTERN], where PROVIDER is ${Object.keys(KEYS).join(', ')}`);
  process.exit(2);
}
if (!process.env[key]) {
  console.error(`${key} is not set: this runs about 150 short sandboxes on your account, one after the other or a few at once`);
  process.exit(2);
}
const { status } = spawnSync(execPath, ['node_modules/mocha/bin/mocha.js', '--import=tsx', `test/live/${provider}.test.ts`, ...more], { stdio: 'inherit' });
process.exit(status ?? 1);
