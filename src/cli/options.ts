import { InvalidArgumentError, Option } from 'commander';
import { POLICY_NAMES } from '../engine/engine.js';
import { parseSeeds } from '../engine/seeds.js';
import { PROVIDERS } from '../sandbox/registry.js';

export const providerOption = (): Option => new Option('--provider <id>', 'where sandboxes live').choices(['auto', ...PROVIDERS.map(({ id }) => id)]);

export const policyOption = (description: string): Option => new Option('--policy <name>', description).choices(POLICY_NAMES);

/** Parser of an option that names seeds; it stays text, which is what the engine takes. */
export function seedsText(text: string): string {
  try {
    parseSeeds(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return text;
}

/** Parser of an option that counts something. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('expected a whole number of at least 1.');
  return value;
}

/** Parser of an option that names something by its position, from 0. */
export function wholeNumberFrom0(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number from 0.');
  return Number(text);
}

/** Parser of an option that is a reward. */
export function rewardValue(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number.');
  return value;
}
