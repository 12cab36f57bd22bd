/** Why a component has no value. Thrown inside this room only: `computeReward` turns it into an outcome. */
import type { RewardProblem, RewardProblemCode } from '../../store/records.js';

export class RewardFailure extends Error {
  constructor(
    readonly code: RewardProblemCode,
    message: string,
  ) {
    super(message);
    this.name = 'RewardFailure';
  }

  get problem(): RewardProblem {
    return { code: this.code, message: this.message };
  }
}

export function fail(code: RewardProblemCode, message: string): never {
  throw new RewardFailure(code, message);
}

const LONGEST_QUOTE = 120;

/**
 * Text of a sandbox in a sentence: one line, cut at a length, and with nothing in it that a terminal obeys (control characters, also
 * those above 127), that hides or that turns the direction of writing.
 */
export function quote(text: string): string {
  const short = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}...` : text;
  return JSON.stringify(short).replace(/[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
