import { InvalidArgumentError } from 'commander';

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
